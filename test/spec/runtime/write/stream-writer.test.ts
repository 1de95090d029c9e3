import { describe, expect, it } from 'vitest'
import { setTargetStatus } from '../../../../commands/demand/set-target-status.ts'
import { routeCall } from '../../../../commands/routing/route-call.ts'
import { workspace } from '../../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../../src/domain/money/wallet.ts'
import { blocklist } from '../../../../src/domain/routing/blocklist.ts'
import { ledgerEvents } from '../../../../src/domain/routing/ledger-events.ts'
import { streamOf } from '../../../../src/kernel/entity.ts'
import type { NewEvent } from '../../../../src/kernel/event.ts'
import { isRefusal } from '../../../../src/kernel/refusal.ts'
import type { EventLog } from '../../../../src/ports/event-log.ts'
import { changeSteps } from '../../../support/fixtures/call-world.ts'
import { addToTally, beginTally, tally } from '../../../support/fixtures/sample.ts'
import { idOf, WORKSPACE } from '../../../support/fixtures/spec.ts'
import {
  acceptedOutcome,
  addTexts,
  arrival,
  commandCall,
  createWriterFixture,
  eventsOfType,
  execute,
  seedLiveCampaign,
  tallyAddition,
  withAppendFaults,
} from '../../../support/fixtures/writer-fixture.ts'

/** A log that counts the reads of streams. */
function withCountedReads(log: EventLog) {
  let reads = 0
  const read: EventLog['read'] = (...asked) => log.read(...asked).finally(() => void reads++)
  return { reads: () => reads, counted: { ...log, read } }
}

describe('commands that wait for one stream', () => {
  it('go into the log in one append, each decided on the state that the one before left', async () => {
    const { log, writer } = createWriterFixture()
    const spied = withAppendFaults(log, {})
    const one = writer({ log: spied.log })
    const all = await Promise.all([
      acceptedOutcome(execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })),
      ...Array.from({ length: 100 }, () => acceptedOutcome(execute(one, addToTally, tallyAddition))),
    ])
    expect(spied.appends.map(({ length }) => length)).toEqual([1, 100])
    expect(all.map(({ events }) => events[0]?.revision)).toEqual(Array.from({ length: 101 }, (_, n) => n))
    expect(all.at(-1)?.position).toBe(await log.head())
  })

  it('answer refusals and no events beside those that are written', async () => {
    const { log, writer } = createWriterFixture()
    const one = writer()
    const outcomes = await Promise.all([
      execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' }),
      execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'Again' }),
      execute(one, addToTally, tallyAddition),
      execute(one, addToTally, { ...tallyAddition, tallyId: idOf(8) }),
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
    const { log, writer } = createWriterFixture()
    const one = writer()
    const outcomes = await Promise.allSettled([[1], [-1], [1]].map((lengths) => execute(one, addTexts, { lengths })))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(log.events).toHaveLength(2)
  })
})

describe('an append', () => {
  const LARGEST = 900 * 1024

  /** Sizes of the appends of two waiting commands whose events have this total size in bytes. */
  async function appendsOf(bytes: number, split: (length: number) => readonly (readonly number[])[]) {
    const { log, writer } = createWriterFixture()
    const spied = withAppendFaults(log, {})
    const one = writer({ log: spied.log })
    await execute(one, addTexts, { lengths: [0] }, 'command-000')
    const [probe] = spied.appends[0] ?? []
    const overhead = JSON.stringify(probe?.data).length + JSON.stringify(probe?.meta).length + 100
    const given = split(bytes - 2 * overhead).map((lengths, n) =>
      execute(one, addTexts, { lengths }, `command-00${n + 1}`),
    )
    await Promise.all([execute(one, addTexts, { lengths: [] }, 'command-009'), ...given])
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
    const { log, writer } = createWriterFixture()
    const { targetId } = await seedLiveCampaign(log, changeSteps.target({ concurrencyCap: 1 }))
    const [first, second] = [withAppendFaults(log, {}), withAppendFaults(log, {})]
    const writers = [writer({ log: first.log }), writer({ log: second.log })]
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        for (let turn = 0; turn < n % 7; turn += 1) await Promise.resolve()
        await Promise.all(
          writers.slice(n % 2, (n % 2) + 1).map((one) => acceptedOutcome(execute(one, routeCall, arrival(n)))),
        )
      }),
    )
    const admitted = eventsOfType(log.events, 'CallAdmitted').map(({ data }) => ledgerEvents.CallAdmitted.parse(data))
    expect(admitted.map(({ arrival }) => arrival.seq)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
    expect(admitted.flatMap(({ claim }) => claim?.target.id ?? [])).toEqual([targetId()])
    expect(first.conflicts() + second.conflicts()).toBeGreaterThan(0)
  })

  it('decide again with the same ids and seed after a conflict', async () => {
    const { log, writer } = createWriterFixture()
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
    await execute(one, addTexts, { lengths: [1] })
    await execute(other, addTexts, { lengths: [1] })
    await execute(one, watched, { lengths: [2, 3] })
    expect(decided).toHaveLength(4)
    expect(decided.slice(2)).toEqual(decided.slice(0, 2))
    expect(log.events.slice(-2).map(({ data, revision }) => ({ data, revision }))).toEqual([
      { data: decided[2]?.data, revision: 2 },
      { data: decided[3]?.data, revision: 3 },
    ])
  })

  it('each see what the other wrote to the streams that a decision reads', async () => {
    const { log, writer } = createWriterFixture()
    const { events, targetId } = await seedLiveCampaign(log)
    const [router, console] = [writer(), writer()]
    const before = await acceptedOutcome(execute(router, routeCall, arrival(1)))
    await execute(console, setTargetStatus, { targetId: targetId(), status: 'paused', by: 'console' })
    const after = await acceptedOutcome(execute(router, routeCall, arrival(2)))
    expect(before.events).toMatchObject([{ data: { claim: { target: { id: targetId() } } } }])
    expect(after.events).toMatchObject([{ data: { claim: null, skipped: [{ reason: 'paused' }] } }])
    const revisions = (workspaceRevision: number) => ({
      [streamOf(workspace, WORKSPACE)]: workspaceRevision,
      [streamOf(blocklist, WORKSPACE)]: -1,
      [streamOf(wallet, WORKSPACE)]: 0,
    })
    expect(before.events[0]?.meta.reads).toEqual(revisions(events.length - 1))
    expect(after.events[0]?.meta.reads).toEqual(revisions(events.length))
  })
})

describe('a dry run', () => {
  it('gives what commands would append one after another, and appends nothing', async () => {
    const { log, writer } = createWriterFixture()
    const one = writer()
    const steps = [
      { command: beginTally, input: { tallyId: tallyAddition.tallyId, name: 'All' } },
      { command: addToTally, input: tallyAddition },
    ]
    expect(await one.dryRun((events) => steps[events.length] ?? null, commandCall('key'))).toMatchObject([
      { type: 'TallyBegun' },
      { type: 'TallyAdded' },
    ])
    expect(await one.dryRun(() => ({ command: addToTally, input: tallyAddition }), commandCall('key'))).toMatchObject({
      refused: 'tally-not-found',
    })
    expect(log.events).toHaveLength(0)
    await execute(one, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })
    expect(await one.stateOf(tally, tallyAddition.tallyId, WORKSPACE)).toMatchObject({ name: 'All', sum: 0 })
  })

  it('ends with a command that decides no event', async () => {
    const { writer } = createWriterFixture()
    const one = writer()
    const begin = { command: beginTally, input: { tallyId: tallyAddition.tallyId, name: 'All' } }
    await execute(one, beginTally, begin.input)
    let asked = 0
    const again = () => {
      asked += 1
      return asked > 3 ? null : begin
    }
    expect(await one.dryRun(again, commandCall('key'))).toEqual([])
    expect(asked).toBe(1)
  })

  it('reads each stream once for all its commands, and none where what is at hand will do', async () => {
    const { log, writer } = createWriterFixture()
    const { tallyId } = tallyAddition
    await execute(writer(), beginTally, { tallyId, name: 'All' })
    const { reads, counted } = withCountedReads(log)
    const one = writer({ log: counted })
    const run = (atHand: boolean) =>
      one.dryRun(
        ({ length }) => (length < 3 ? { command: addToTally, input: tallyAddition } : null),
        commandCall('key'),
        atHand,
      )
    expect(await run(false)).toHaveLength(3)
    expect(reads()).toBe(1)
    await execute(writer(), addToTally, tallyAddition)
    expect(await run(true)).toMatchObject([{ revision: 1 }, { revision: 2 }, { revision: 3 }])
    expect(reads()).toBe(1)
    expect(await run(false)).toMatchObject([{ revision: 2 }, { revision: 3 }, { revision: 4 }])
    expect(reads()).toBe(2)
  })
})

it('a state that was read for a command is not read again for it', async () => {
  const { log, writer } = createWriterFixture()
  const { tallyId } = tallyAddition
  await acceptedOutcome(execute(writer(), beginTally, { tallyId, name: 'All' }))
  const { reads, counted } = withCountedReads(log)
  const other = writer({ log: counted })
  expect(await other.recentStateOf(tally, tallyId, 0, WORKSPACE)).toMatchObject({ name: 'All', sum: 0 })
  await acceptedOutcome(execute(other, addToTally, tallyAddition))
  expect(reads()).toBe(1)
})
