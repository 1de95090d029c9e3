import { z } from 'zod'
import { defineCommand } from '../../src/kernel/command.ts'
import { defineEntity, partsOfStream } from '../../src/kernel/entity.ts'
import type { EventToAppend, Meta } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import type { EventLog } from '../../src/ports/event-log.ts'

/** A small domain that the tests of the runtime share: tallies that are begun, added to and closed. */
const events = {
  TallyBegun: z.object({ name: z.string().min(1).max(20) }),
  TallyAdded: z.object({ amount: z.int().min(0).max(1_000) }),
  TallyClosed: z.object({}),
}

interface TallyState {
  readonly name: string | null
  readonly sum: number
  readonly closed: boolean
}

const nothing: TallyState = { name: null, sum: 0, closed: false }

export const tally = defineEntity({
  name: 'tally',
  events,
  version: 1,
  initial: nothing,
  remembersCommands: true,
  evolve: {
    TallyBegun: (state, { data }) => ({ ...state, name: data.name }),
    TallyAdded: (state, { data }) => ({ ...state, sum: state.sum + data.amount }),
    TallyClosed: (state) => ({ ...state, closed: true }),
  },
})

const tallyId = z.uuid()

export const beginTally = defineCommand({
  name: 'begin-tally',
  entity: tally,
  input: z.object({ tallyId, name: z.string().min(1).max(20) }),
  id: (input) => input.tallyId,
  decide: ({ name }, state) => (state.name === null ? [{ type: 'TallyBegun', data: { name } }] : []),
})

export const addToTally = defineCommand({
  name: 'add-to-tally',
  entity: tally,
  input: z.object({ tallyId, amount: z.int().min(0).max(1_000) }),
  id: (input) => input.tallyId,
  rejects: ['tally-not-found', 'tally-closed'],
  decide({ amount }, state) {
    if (state.name === null) return refuse('tally-not-found')
    if (state.closed) return refuse('tally-closed')
    return [{ type: 'TallyAdded', data: { amount } }]
  },
})

export const closeTally = defineCommand({
  name: 'close-tally',
  entity: tally,
  input: z.object({ tallyId }),
  id: (input) => input.tallyId,
  rejects: ['tally-not-found'],
  decide(_input, state) {
    if (state.name === null) return refuse('tally-not-found')
    return state.closed ? [] : [{ type: 'TallyClosed', data: {} }]
  },
})

/** Open tallies: a closed one is removed. */
export const openTallies = defineProjection({
  name: 'open-tallies',
  version: 1,
  events,
  doc: z.object({ workspaceId: z.string(), name: z.string(), sum: z.int() }),
  indexes: [{ workspaceId: 1, name: 1 }],
  key: ({ stream }) => partsOfStream(stream).id,
  starts: { TallyBegun: ({ data, meta }) => ({ workspaceId: meta.workspaceId ?? '', name: data.name, sum: 0 }) },
  on: {
    TallyAdded: (doc, { data }) => ({ ...doc, sum: doc.sum + data.amount }),
    TallyClosed: () => null,
  },
})

const started = { begun: 0, added: 0 }

/** Totals, one document for each workspace and one for all. */
export const tallyTotals = defineProjection({
  name: 'tally-totals',
  version: 1,
  events: { TallyBegun: events.TallyBegun, TallyAdded: events.TallyAdded },
  doc: z.object({ workspaceId: z.string(), begun: z.int().min(0), added: z.int().min(0) }),
  indexes: [{ workspaceId: 1 }],
  key: ({ meta }) => ['all', meta.workspaceId ?? 'none'],
  starts: {
    TallyBegun: (_event, id) => ({ workspaceId: id, ...started, begun: 1 }),
    TallyAdded: ({ data }, id) => ({ workspaceId: id, ...started, added: data.amount }),
  },
  on: {
    TallyBegun: (doc) => ({ ...doc, begun: doc.begun + 1 }),
    TallyAdded: (doc, { data }) => ({ ...doc, added: doc.added + data.amount }),
  },
})

/** What was added to each tally, numbered; each addition stands beside it under its event's own id. */
export const tallyBook = defineProjection({
  name: 'tally-book',
  version: 1,
  events: { TallyAdded: events.TallyAdded },
  doc: z.object({ workspaceId: z.string(), count: z.int(), sum: z.int() }),
  indexes: [{ workspaceId: 1, count: 1 }],
  key: ({ stream }) => partsOfStream(stream).id,
  starts: {
    TallyAdded: ({ data, meta }) => ({ workspaceId: meta.workspaceId ?? '', count: 1, sum: data.amount }),
  },
  on: { TallyAdded: (doc, { data }) => ({ ...doc, count: doc.count + 1, sum: doc.sum + data.amount }) },
  emit: (doc, { meta }) => [{ id: meta.eventId, doc }],
})

/** Metadata for an event that a test appends by itself. */
export function metaAt(at: number, eventId: string): Meta {
  return {
    eventId,
    workspaceId: 'w1',
    at: new Date(at).toISOString(),
    actor: { type: 'system', id: null, name: 'test' },
    commandId: eventId,
    correlationId: eventId,
    causationId: null,
    surface: 'test',
    ip: null,
  }
}

/** Appends events behind whatever a stream holds. */
export async function appendTo(
  log: EventLog,
  stream: string,
  at: number,
  ...added: readonly { readonly type: string; readonly data: unknown }[]
): Promise<void> {
  const held = await log.read(stream, 0)
  const from = held.length
  const batch: EventToAppend[] = added.map((event, index) => ({
    ...event,
    version: 1,
    meta: metaAt(at, `${stream}#${from + index}`),
  }))
  await log.append(stream, from - 1, batch)
}

export const begun = (name: string) => ({ type: 'TallyBegun', data: { name } })
export const added = (amount: number) => ({ type: 'TallyAdded', data: { amount } })
export const closed = { type: 'TallyClosed', data: {} }
