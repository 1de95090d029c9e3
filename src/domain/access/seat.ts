import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import type { Actor } from '../../kernel/event.ts'
import { refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import type { SliceOf } from '../shared/slice.ts'

export const role = z.enum(['owner', 'admin', 'member'])
export type Role = z.infer<typeof role>

/** A person's seat in a workspace. */
export const seat = z.object({ userId: id, email: z.string(), name: z.string(), role })
export type Seat = Readonly<z.infer<typeof seat>>

/** Id of a person's seat in a workspace. */
export function seatId(workspaceId: string, userId: string): string {
  return `${workspaceId}:${userId}`
}

/** These names are the storage format. */
export const seatEvents = {
  SeatGranted: seat.extend({ workspaceId: id, workspaceName: z.string() }),
  SeatRoleChanged: z.object({ workspaceId: id, userId: id, name: z.string(), from: role, to: role }),
  SeatRemoved: z.object({ workspaceId: id, userId: id, name: z.string(), role }),
}

export interface Seats {
  /** Seats by user. */
  readonly seats: PersistentMap<string, Seat>
}

export const evolveSeats: SliceOf<Seats, typeof seatEvents> = {
  SeatGranted: (state, { data: { userId, email, name, role } }) => ({
    ...state,
    seats: state.seats.set(userId, { userId, email, name, role }),
  }),
  SeatRoleChanged: (state, { data: { userId, to } }) => ({
    ...state,
    seats: state.seats.update(userId, (seat) => seat && { ...seat, role: to }),
  }),
  SeatRemoved: (state, { data: { userId } }) => ({ ...state, seats: state.seats.delete(userId) }),
}

/** 403: the action requires an owner. */
export function refuseNotOwner() {
  return refuse('forbidden', null, 'Only an owner of the workspace may do this.')
}

/** Refuses a user who is not an owner by the current seats; null for an owner and for the platform. */
export function refuseUnlessOwner({ seats }: Seats, { type, id }: Actor) {
  return type !== 'user' || seats.get(id ?? '')?.role === 'owner' ? null : refuseNotOwner()
}

/** Refuses a change that would leave the workspace without an owner; null for any other seat. */
export function refuseLastOwner({ seats }: Seats, { role }: Seat) {
  const owners = seats.count((held) => held.role === 'owner')
  return role !== 'owner' || owners > 1
    ? null
    : refuse('conflict', { role: 'owner' }, 'A workspace must have an owner. Make another person an owner first.')
}
