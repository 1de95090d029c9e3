import type { z } from 'zod'
import type { Memory, Recall } from '../../kernel/command.ts'
import { id } from '../../kernel/wire.ts'
import { coversId } from '../shared/windowed-map.ts'
import { booked } from './booked.ts'
import type { LedgerState } from './ledger.ts'

const doc = booked.extend({ workspaceId: id })

/** What is counted of calls beyond the hour that the ledger's fold remembers, by call: documents of the projection of this name. */
export const bookedMemory: Memory<Readonly<z.infer<typeof doc>>> = { name: 'booked-calls', doc }

/** The look-up that makes it certain what is counted of a call; none where the fold knows. */
export function bookedRecalls({ booked }: LedgerState, callId: string): readonly Recall[] {
  return coversId(booked, callId) ? [] : [{ memory: bookedMemory, id: callId }]
}
