import { Map as PersistentMap } from 'immutable'
import { v5 } from 'uuid'
import { z } from 'zod'
import { defineEntity } from '../kernel/entity.ts'
import { id, instant } from '../kernel/wire.ts'
import { nameOf, sha256 } from './fields.ts'
import { NAME, TEXT } from './limits.ts'

export const role = z.enum(['owner', 'admin', 'member'])
export const email = z.email().max(TEXT.email)

/** What a user may do in one workspace. */
export const seat = z.object({ workspaceId: id, workspaceName: z.string(), role })
export type Seat = Readonly<z.infer<typeof seat>>

/** These names are the storage format. */
export const userEvents = {
  UserRegistered: z.object({ userId: id, email, name: nameOf(NAME.user), passwordHash: z.string() }),
  SeatGranted: seat.extend({ userId: id }),
  SignedIn: z.object({
    userId: id,
    sessionHash: sha256,
    expiresAt: instant,
    /** Sessions of the user that had ended by themselves, forgotten at this sign-in. */
    expired: z.array(sha256).readonly(),
  }),
  SignedOut: z.object({ userId: id, sessionHash: sha256 }),
}

export interface UserState {
  readonly user: { readonly id: string; readonly email: string; readonly name: string } | null
  /** Seats by workspace. */
  readonly seats: PersistentMap<string, Seat>
  /** When each session ends, by the hash of its token. */
  readonly sessions: PersistentMap<string, string>
}

const initial: UserState = { user: null, seats: PersistentMap(), sessions: PersistentMap() }

/** A person who signs in: `user-<userId>`. */
export const user = defineEntity({
  name: 'user',
  version: 1,
  longLived: true,
  remembersCommands: true,
  events: userEvents,
  initial,
  evolve: {
    UserRegistered: (state, { data: { userId, email, name } }) => ({ ...state, user: { id: userId, email, name } }),
    SeatGranted: (state, { data: { workspaceId, workspaceName, role } }) => ({
      ...state,
      seats: state.seats.set(workspaceId, { workspaceId, workspaceName, role }),
    }),
    SignedIn: (state, { data }) => ({
      ...state,
      sessions: state.sessions.deleteAll(data.expired).set(data.sessionHash, data.expiresAt),
    }),
    SignedOut: (state, { data }) => ({ ...state, sessions: state.sessions.delete(data.sessionHash) }),
  },
})

/** Namespace of user ids; changing it would lose every user. */
const USERS = '6f2c1c52-7d0b-5c43-9b7e-2f4a9d1e8c30'

/** A user's id, which is the address itself: unique by its stream, whatever the case. */
export function userIdOf(address: string): string {
  return v5(address.trim().toLowerCase(), USERS)
}
