import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createPublisher } from '../../commands/create-publisher.ts'
import { routeCall } from '../../commands/route-call.ts'
import { setTargetStatus } from '../../commands/set-target-status.ts'
import { callerKey, ledger, ledgerEvents } from '../../src/domain/ledger.ts'
import { wallet } from '../../src/domain/wallet.ts'
import { workspace } from '../../src/domain/workspace.ts'
import { type AnyCommand, defineCommand } from '../../src/kernel/command.ts'
import { type AnyEntity, defineEntity, streamOf } from '../../src/kernel/entity.ts'
import type { NewEvent, RecordedEvent } from '../../src/kernel/event.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { type EventLog, LogUnavailable } from '../../src/ports/event-log.ts'
import {
  createStreamWriter,
  type Outcome,
  type StreamWriter,
  type WriterPorts,
} from '../../src/runtime/stream-writer.ts'
import { CALLER, CREDITED, callOf, callWorld, changing, DIALED } from '../support/call-world.ts'
import type { Step } from '../support/configured.ts'
import { type Fault, withFaults } from '../support/faults.ts'
import { createManualClock } from '../support/memory-clock.ts'
import { createMemoryLog } from '../support/memory-event-log.ts'
import { createMemoryOperationalStore } from '../support/memory-operational-store.ts'
import { createSeededRandom } from '../support/memory-random.ts'
import { addToTally, beginTally, tally } from '../support/sample.ts'
import { idOf, NOW, recorded, WORKSPACE } from '../support/spec.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A log and all else that a writer needs, and writers over it. */
function bench() {
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
function faulty(log: EventLog, faults: Readonly<Record<number, Fault>>) {
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
const give = (writer: StreamWriter, command: AnyCommand, input: object, commandId = ids.uuid()) =>
  writer.handle(command, input, {
    workspaceId: WORKSPACE,
    actor: { type: 'system', id: null, name: 'Spec' },
    commandId,
    correlationId: 'spec',
    causationId: null,
    surface: 'spec',
    ip: null,
  })

/** The outcome of a command that was taken. */
async function taken(given: ReturnType<typeof give>): Promise<Outcome> {
  const outcome = await given
  if (isRefusal(outcome)) throw new Error(outcome.refused)
  return outcome
}

async function seed(log: EventLog, entity: AnyEntity, events: readonly NewEvent[]): Promise<void> {
  await log.append(streamOf(entity, WORKSPACE), -1, recorded(entity, events))
}

/** A workspace with a live campaign, in a log. */
async function routed(log: EventLog, ...steps: readonly Step[]) {
  const world = callWorld(...steps)
  await seed(log, workspace, world.events)
  await seed(log, wallet, CREDITED)
  return world
}
const arrival = (n: number, changes: object = {}) => ({
  callId: callOf(n),
  carrierCallId: `carrier-${n}`,
  to: DIALED,
  caller: CALLER,
  occurredAt: NOW,
  ...changes,
})
const ofType = (events: readonly RecordedEvent[], type: string) => events.filter((event) => event.type === type)
const tallyId = idOf(7)
const add = { tallyId, amount: 1 }
const sumOf = (events: readonly RecordedEvent[]) => ofType(events, 'TallyAdded').length

// A stream of texts, as long as a test wants them

const textEvents = { TextAdded: z.object({ text: z.string(), id: z.string() }) }
const texts = defineEntity({
  name: 'texts',
  events: textEvents,
  version: 1,
  initial: 0,
  evolve: { TextAdded: (n) => n + 1 },
})
const addTexts = defineCommand({
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

describe('commands that wait for one stream', () => {
  it('go into the log in one append, each decided on the state that the one before left', async () => {
    const { log, writer } = bench()
    const spied = faulty(log, {})
    const one = writer({ log: spied.log })
    const all = await Promise.all([
      taken(give(one, beginTally, { tallyId, name: 'All' })),
      ...Array.from({ length: 100 }, () => taken(give(one, addToTally, add))),
    ])
    expect(spied.appends.map(({ length }) => length)).toEqual([1, 100])
    expect(all.map(({ events }) => events[0]?.revision)).toEqual(Array.from({ length: 101 }, (_, n) => n))
    expect(all.at(-1)?.position).toBe(await log.head())
  })

  it('answer refusals and no events beside those that are written', async () => {
    const { log, writer } = bench()
    const one = writer()
    const outcomes = await Promise.all([
      give(one, beginTally, { tallyId, name: 'All' }),
      give(one, beginTally, { tallyId, name: 'Again' }),
      give(one, addToTally, add),
      give(one, addToTally, { ...add, tallyId: idOf(8) }),
    ])
    expect(outcomes).toMatchObject([
      { events: [{ type: 'TallyBegun' }] },
      { events: [] },
      { events: [{ type: 'TallyAdded' }] },
      { refused: 'tally-not-found' },
    ])
    expect(log.events).toHaveLength(2)
  })

  it('fail alone when their decision does', async () => {
    const { log, writer } = bench()
    const one = writer()
    const outcomes = await Promise.allSettled([[1], [-1], [1]].map((lengths) => give(one, addTexts, { lengths })))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(log.events).toHaveLength(2)
  })
})

describe('an append', () => {
  const LARGEST = 900 * 1024

  /** Sizes of the appends that two commands of so many bytes together, waiting together, come to. */
  async function appendsOf(bytes: number, split: (length: number) => readonly (readonly number[])[]) {
    const { log, writer } = bench()
    const spied = faulty(log, {})
    const one = writer({ log: spied.log })
    await give(one, addTexts, { lengths: [0] }, 'command-000')
    const [probe] = spied.appends[0] ?? []
    const overhead = JSON.stringify(probe?.data).length + JSON.stringify(probe?.meta).length + 100
    const given = split(bytes - 2 * overhead).map((lengths, n) =>
      give(one, addTexts, { lengths }, `command-00${n + 1}`),
    )
    await Promise.all([give(one, addTexts, { lengths: [] }, 'command-009'), ...given])
    return spied.appends.slice(1).map(({ length }) => length)
  }
  const halves = (length: number) => [[], [Math.floor(length / 2)], [Math.ceil(length / 2)]]

  it('holds 900 KB', async () => {
    expect(await appendsOf(LARGEST, halves)).toEqual([2])
  })

  it('is split a byte above', async () => {
    expect(await appendsOf(LARGEST + 1, halves)).toEqual([1, 1])
  })

  it('is never split inside one command', async () => {
    expect(await appendsOf(LARGEST * 1.05, (length) => [[Math.floor(length / 2), Math.ceil(length / 2)]])).toEqual([2])
  })
})

describe('two writers over one log', () => {
  it('give 200 calls at once to a target that takes one exactly one claim', async () => {
    const { log, writer } = bench()
    const { targetId } = await routed(log, changing.target({ concurrencyCap: 1 }))
    const [first, second] = [faulty(log, {}), faulty(log, {})]
    const writers = [writer({ log: first.log }), writer({ log: second.log })]
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        for (let turn = 0; turn < n % 7; turn += 1) await Promise.resolve()
        await Promise.all(writers.slice(n % 2, (n % 2) + 1).map((one) => taken(give(one, routeCall, arrival(n)))))
      }),
    )
    const admitted = ofType(log.events, 'CallAdmitted').map(({ data }) => ledgerEvents.CallAdmitted.parse(data))
    expect(admitted.map(({ arrival }) => arrival.seq)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
    expect(admitted.flatMap(({ claim }) => claim?.target.id ?? [])).toEqual([targetId()])
    expect(first.conflicts() + second.conflicts()).toBeGreaterThan(0)
  })

  it('decide again with the same ids and seed after a conflict', async () => {
    const { log, writer } = bench()
    const decided: NewEvent[] = []
    const watched = {
      ...addTexts,
      decide: (...all: Parameters<typeof addTexts.decide>) => {
        const outcome = addTexts.decide(...all)
        if (!isRefusal(outcome)) decided.push(...outcome)
        return outcome
      },
    }
    const [one, other] = [writer(), writer()]
    await give(one, addTexts, { lengths: [1] })
    await give(other, addTexts, { lengths: [1] })
    await give(one, watched, { lengths: [2, 3] })
    expect(decided).toHaveLength(4)
    expect(decided.slice(2)).toEqual(decided.slice(0, 2))
    expect(log.events.slice(-2).map(({ data, revision }) => ({ data, revision }))).toEqual([
      { data: decided[2]?.data, revision: 2 },
      { data: decided[3]?.data, revision: 3 },
    ])
  })

  it('each see what the other wrote to the streams that a decision reads', async () => {
    const { log, writer } = bench()
    const { events, targetId } = await routed(log)
    const [router, console] = [writer(), writer()]
    const before = await taken(give(router, routeCall, arrival(1)))
    await give(console, setTargetStatus, { targetId: targetId(), status: 'paused' })
    const after = await taken(give(router, routeCall, arrival(2)))
    expect(before.events).toMatchObject([{ data: { claim: { target: { id: targetId() } } } }])
    expect(after.events).toMatchObject([{ data: { claim: null, skipped: [{ reason: 'paused' }] } }])
    const revisions = (workspaceRevision: number) => ({
      [`workspace-${WORKSPACE}`]: workspaceRevision,
      [`blocklist-${WORKSPACE}`]: -1,
      [`wallet-${WORKSPACE}`]: 0,
    })
    expect(before.events[0]?.meta.reads).toEqual(revisions(events.length - 1))
    expect(after.events[0]?.meta.reads).toEqual(revisions(events.length))
  })
})

describe('an append that lands while its answer is lost', () => {
  it('makes one call of a retry, known by its own key', async () => {
    const { log, writer } = bench()
    await routed(log)
    const one = writer({ log: faulty(log, { 1: 'lose' }).log })
    await expect(give(one, routeCall, arrival(1))).rejects.toThrow(LogUnavailable)
    expect(await taken(give(one, routeCall, arrival(1)))).toMatchObject({ events: [] })
    const next = await taken(give(one, routeCall, arrival(2)))
    expect(next.events).toMatchObject([{ revision: 1, data: { arrival: { seq: 2 } } }])
    expect(ofType(log.events, 'CallAdmitted')).toHaveLength(2)
  })

  it('answers a retry of configuration with the events of the first', async () => {
    const { log, writer } = bench()
    const one = writer({ log: faulty(log, { 2: 'lose' }).log })
    await give(one, beginTally, { tallyId, name: 'All' })
    await expect(give(one, addToTally, add, 'key')).rejects.toThrow(LogUnavailable)
    const again = await taken(give(one, addToTally, add, 'key'))
    expect(again).toMatchObject({ replayed: true, events: [{ type: 'TallyAdded', revision: 1 }] })
    expect(again.position).toBe(await log.head())
    expect(sumOf(log.events)).toBe(1)
  })

  it('is known to another writer as well', async () => {
    const { log, writer } = bench()
    const one = writer({ log: faulty(log, { 1: 'lose' }).log })
    await expect(give(one, beginTally, { tallyId, name: 'All' }, 'key')).rejects.toThrow(LogUnavailable)
    expect(await taken(give(writer(), beginTally, { tallyId, name: 'All' }, 'key'))).toMatchObject({ replayed: true })
  })
})

describe('a log that is away', () => {
  it('is told to everyone whose append it was, and leaves nothing half-written', async () => {
    const { log, writer } = bench()
    const one = writer({ log: faulty(log, { 2: 'fail' }).log })
    await give(one, beginTally, { tallyId, name: 'All' })
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => give(one, addToTally, add)))
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { name: 'LogUnavailable' } })
    expect(log.events.map(({ revision }) => revision)).toEqual([0])
    expect(await taken(give(one, addToTally, add))).toMatchObject({ events: [{ revision: 1 }] })
  })

  it('takes all of an append or none', async () => {
    const { log, writer } = bench()
    const one = writer({ log: faulty(log, { 1: 'fail' }).log })
    await expect(give(one, addTexts, { lengths: [1, 2, 3] })).rejects.toThrow(LogUnavailable)
    expect(log.events).toHaveLength(0)
    expect(await taken(give(one, addTexts, { lengths: [1, 2, 3] }))).toMatchObject({ events: [{}, {}, {}] })
    expect(log.events).toHaveLength(3)
  })

  it('is told when it cannot be read, and serves again when it is back', async () => {
    const { log, writer } = bench()
    await routed(log)
    let away = true
    const one = writer({
      log: withFaults(
        log,
        () => new LogUnavailable('The log is away.'),
        (method) => (away && method === 'read' ? 'fail' : undefined),
      ),
    })
    await expect(give(one, routeCall, arrival(1))).rejects.toThrow(LogUnavailable)
    expect(ofType(log.events, 'CallAdmitted')).toHaveLength(0)
    away = false
    expect(await taken(give(one, routeCall, arrival(1)))).toMatchObject({ events: [{ type: 'CallAdmitted' }] })
  })
})

describe('a command id', () => {
  const publisher = { name: 'Red Leads' }
  const made = (log: { readonly events: readonly RecordedEvent[] }) => ofType(log.events, 'PublisherCreated').length - 1

  it('is handled once even when it is given twice at once', async () => {
    const { log, writer } = bench()
    const one = writer()
    await give(one, beginTally, { tallyId, name: 'All' })
    const both = await Promise.all([0, 1, 2].map(() => taken(give(one, addToTally, add, 'key'))))
    expect(both.map(({ replayed }) => replayed)).toEqual([false, true, true])
    expect(both.map(({ events }) => events[0]?.meta.eventId)).toEqual(
      both.map(() => ofType(log.events, 'TallyAdded')[0]?.meta.eventId),
    )
    expect(sumOf(log.events)).toBe(1)
  })

  it('is remembered for 24 hours, and no longer', async () => {
    const { log, clock, writer } = bench()
    const one = writer()
    await give(one, beginTally, { tallyId, name: 'All' })
    await give(one, addToTally, add, 'key')
    await clock.advance(DAY - 1)
    expect(await taken(give(one, addToTally, add, 'key'))).toMatchObject({ replayed: true })
    await clock.advance(1)
    expect(await taken(give(one, addToTally, add, 'key'))).toMatchObject({ replayed: false })
    expect(sumOf(log.events)).toBe(2)
  })

  it.each([
    ['with its fold cached', true],
    ['with no fold cached', false],
  ])('survives a restart %s', async (_how, cached) => {
    const { log, ops, clock, writer } = bench()
    await routed(log)
    const first = writer()
    const outcome = await taken(give(first, createPublisher, publisher, 'key'))
    await first.close()
    expect(await ops.get(`fold:workspace-${WORKSPACE}`, clock.now())).not.toBeNull()
    const restarted = writer(cached ? {} : { ops: createMemoryOperationalStore() })
    await clock.advance(DAY - 1)
    const again = await taken(give(restarted, createPublisher, publisher, 'key'))
    expect(again).toMatchObject({ replayed: true, position: outcome.position })
    expect(again.events.map(({ meta }) => meta.eventId)).toEqual(outcome.events.map(({ meta }) => meta.eventId))
    await clock.advance(1)
    expect(await taken(give(restarted, createPublisher, publisher, 'key'))).toMatchObject({ replayed: false })
    expect(made(log)).toBe(2)
  })

  it('taken up again a day later stands for its own events alone, from a cached fold too', async () => {
    const { log, clock, writer } = bench()
    await routed(log)
    const first = writer()
    await clock.advance(DAY - HOUR)
    await give(first, createPublisher, publisher, 'key')
    await clock.advance(HOUR)
    await give(first, createPublisher, publisher)
    await first.close()
    const restarted = writer()
    await clock.advance(DAY - HOUR)
    const again = await taken(give(restarted, createPublisher, publisher, 'key'))
    expect(again.replayed).toBe(false)
    const replayed = await taken(give(restarted, createPublisher, publisher, 'key'))
    expect(replayed).toMatchObject({ replayed: true, position: again.position })
    expect(replayed.events).toHaveLength(1)
  })

  it('means nothing on a stream that is known by other keys', async () => {
    const { log, writer } = bench()
    await routed(log)
    const one = writer()
    await give(one, routeCall, arrival(1), 'key')
    expect(await taken(give(one, routeCall, arrival(2), 'key'))).toMatchObject({ replayed: false, events: [{}] })
  })
})

describe('a cached fold', () => {
  it('leaves only the tail to be read, and goes on from there', async () => {
    const { log, writer } = bench()
    await routed(log)
    const first = writer()
    await Promise.all([1, 2, 3].map((n) => give(first, routeCall, arrival(n))))
    await first.close()
    const reads: (readonly [string, number])[] = []
    const restarted = writer({
      log: {
        ...log,
        read(stream, from, limit) {
          reads.push([stream, from])
          return log.read(stream, from, limit)
        },
      },
    })
    const next = await taken(give(restarted, routeCall, arrival(4)))
    expect(next.events).toMatchObject([{ revision: 3, data: { arrival: { seq: 4 } } }])
    expect(reads).toContainEqual([streamOf(ledger, WORKSPACE), 3])
    expect(reads).not.toContainEqual([streamOf(ledger, WORKSPACE), 0])
  })

  it('is done without when the store is away', async () => {
    const { log, writer, ops } = bench()
    await routed(log)
    const away = withFaults(
      ops,
      () => new Error('The store is away.'),
      () => 'fail',
    )
    const one = writer({ ops: away })
    expect(await taken(give(one, routeCall, arrival(1)))).toMatchObject({ events: [{ type: 'CallAdmitted' }] })
    await one.close()
  })
})

describe('what is recalled', () => {
  const blocking = changing.campaign({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 90 * 24 * 3_600 })
  const other = '+12125550100'

  it('is asked for only where the fold does not know', async () => {
    const { log, recall, writer } = bench()
    const { campaignId } = await routed(log, blocking)
    const one = writer()
    await give(one, routeCall, arrival(1))
    await give(one, routeCall, arrival(2))
    await give(one, routeCall, arrival(3, { caller: null }))
    expect(recall.mock.calls.map(([memory, id]) => [memory.name, id])).toEqual([
      ['caller-memory', callerKey(campaignId, CALLER)],
    ])
    expect(log.events.filter(({ stream }) => stream.startsWith('ledger')).map(({ type }) => type)).toEqual([
      'CallAdmitted',
      'CallRefused',
      'CallAdmitted',
    ])
  })

  it('is asked for as soon as an earlier command of the same turn made the fold forget', async () => {
    const { log, clock, recall, writer } = bench()
    await routed(log, blocking)
    const one = writer()
    const at = () => new Date(clock.now()).toISOString()
    const firstSeen = at()
    await give(one, routeCall, arrival(1))
    await clock.advance(HOUR)
    await give(one, routeCall, arrival(2, { caller: other, occurredAt: at() }))
    await clock.advance(HOUR)
    recall.mockClear()
    recall.mockImplementation(async (_memory, id) =>
      id.endsWith(CALLER) ? { workspaceId: WORKSPACE, at: firstSeen, targetId: null } : null,
    )
    const third = { caller: '+13105550100', occurredAt: at() }
    const outcomes = await Promise.all([
      taken(give(one, routeCall, arrival(2, { caller: other }))),
      taken(give(one, routeCall, arrival(3, third))),
      taken(give(one, routeCall, arrival(4, { occurredAt: at() }))),
    ])
    expect(outcomes.map(({ events }) => events[0]?.type)).toEqual([undefined, 'CallAdmitted', 'CallRefused'])
    expect(recall).toHaveBeenCalledTimes(2)
  })
})

describe('a rehearsal', () => {
  it('gives what commands would append one after another, and appends nothing', async () => {
    const { log, writer } = bench()
    const one = writer()
    const steps = [
      { command: beginTally, input: { tallyId, name: 'All' } },
      { command: addToTally, input: add },
    ]
    const call = {
      workspaceId: WORKSPACE,
      actor: { type: 'system', id: null, name: 'Spec' } as const,
      commandId: 'key',
      correlationId: 'spec',
      causationId: null,
      surface: 'spec',
      ip: null,
    }
    expect(await one.rehearse((events) => steps[events.length] ?? null, call)).toMatchObject([
      { type: 'TallyBegun' },
      { type: 'TallyAdded' },
    ])
    expect(await one.rehearse(() => ({ command: addToTally, input: add }), call)).toMatchObject({
      refused: 'tally-not-found',
    })
    expect(log.events).toHaveLength(0)
    await give(one, beginTally, { tallyId, name: 'All' })
    expect(await one.stateOf(tally, tallyId)).toMatchObject({ name: 'All', sum: 0 })
  })
})
