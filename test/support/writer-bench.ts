import { vi } from 'vitest'
import { z } from 'zod'
import { wallet } from '../../src/domain/wallet.ts'
import { workspace } from '../../src/domain/workspace.ts'
import { type AnyCommand, defineCommand } from '../../src/kernel/command.ts'
import { type AnyEntity, defineEntity, streamOf } from '../../src/kernel/entity.ts'
import type { NewEvent, RecordedEvent } from '../../src/kernel/event.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { type EventLog, LogUnavailable } from '../../src/ports/event-log.ts'
import type { CommandCall, Outcome } from '../../src/runtime/mailboxes.ts'
import { createStreamWriter, type StreamWriter, type WriterPorts } from '../../src/runtime/stream-writer.ts'
import { CALLER, CREDITED, callOf, callWorld, DIALED } from './call-world.ts'
import type { Step } from './configured.ts'
import { type Fault, withFaults } from './faults.ts'
import { createManualClock } from './memory-clock.ts'
import { createMemoryLog } from './memory-event-log.ts'
import { createMemoryOperationalStore } from './memory-operational-store.ts'
import { createSeededRandom } from './memory-random.ts'
import { idOf, NOW, recorded, WORKSPACE } from './spec.ts'

/** A log and all else that a writer needs, and writers over it. */
export function bench() {
  const log = createMemoryLog()
  const ops = createMemoryOperationalStore()
  const clock = createManualClock(Date.parse(NOW))
  let seeds = 1
  const recall = vi.fn<WriterPorts['recall']>(async () => null)
  const writer = (changes: Partial<WriterPorts> = {}) =>
    createStreamWriter({ log, ops, clock, random: createSeededRandom(seeds++), recall, ...changes })
  return { log, ops, clock, recall, writer }
}

/** A log of which the n-th append (1, 2, …) meets a fault, and what was asked of it. */
export function faulty(log: EventLog, faults: Readonly<Record<number, Fault>>) {
  const appends: (readonly { readonly data: unknown; readonly meta: unknown }[])[] = []
  let conflicts = 0
  const spied: EventLog = {
    ...log,
    async append(stream, expected, events) {
      const result = await log.append(stream, expected, events)
      if (result.ok) appends.push(events)
      else conflicts += 1
      return result
    },
  }
  const away = () => new LogUnavailable('The log is away.')
  const interfered = withFaults(spied, away, (method, nth) => (method === 'append' ? faults[nth] : undefined))
  return { log: interfered, appends, conflicts: () => conflicts }
}

const ids = createSeededRandom(99)

/** On whose behalf the commands of a specification are given. */
export const by = (commandId: string): CommandCall => ({
  workspaceId: WORKSPACE,
  actor: { type: 'system', id: null, name: 'Spec' },
  commandId,
  correlationId: 'spec',
  causationId: null,
  surface: 'spec',
  ip: null,
})

/** Gives a command; under an id of its own, unless one is named. */
export function give(writer: StreamWriter, command: AnyCommand, input: object, commandId = ids.uuid()) {
  return writer.handle(command, input, by(commandId))
}

/** The outcome of a command that was taken. */
export async function taken(given: ReturnType<typeof give>): Promise<Outcome> {
  const outcome = await given
  if (isRefusal(outcome)) throw new Error(outcome.refused)
  return outcome
}

async function seed(log: EventLog, entity: AnyEntity, events: readonly NewEvent[]): Promise<void> {
  await log.append(streamOf(entity, WORKSPACE), -1, recorded(entity, events))
}

/** A workspace with a live campaign, in a log. */
export async function routed(log: EventLog, ...steps: readonly Step[]) {
  const world = callWorld(...steps)
  await seed(log, workspace, world.events)
  await seed(log, wallet, CREDITED)
  return world
}

/** The n-th call on the number of that workspace. */
export const arrival = (n: number, changes: object = {}) => ({
  callId: callOf(n),
  carrierCallId: `carrier-${n}`,
  to: DIALED,
  caller: CALLER,
  routingKeyHash: null,
  occurredAt: NOW,
  ...changes,
})

/** Events of one type. */
export const ofType = (events: readonly RecordedEvent[], type: string) => events.filter((event) => event.type === type)

/** A tally of the sample domain, and the least that is added to it. */
export const add = { tallyId: idOf(7), amount: 1 }

const textEvents = { TextAdded: z.object({ text: z.string(), id: z.string() }) }
const texts = defineEntity({
  name: 'texts',
  events: textEvents,
  version: 1,
  initial: 0,
  evolve: { TextAdded: (n) => n + 1 },
})

/** Adds texts of these lengths; one of -1 makes the decision throw. */
export const addTexts = defineCommand({
  name: 'add-texts',
  entity: texts,
  input: z.object({ lengths: z.array(z.int()) }),
  decide: ({ lengths }, state, { newId, seed }) => {
    if (lengths.includes(-1)) throw new RangeError('A text cannot be that short.')
    return lengths.map((length) => ({
      type: 'TextAdded' as const,
      data: { text: 'x'.repeat(length), id: `${newId()} ${seed} ${state >= 0}` },
    }))
  },
})
