import { describe, expect, it } from 'vitest'
import { streamOf } from '../../../../src/kernel/entity.ts'
import type { EventLog } from '../../../../src/ports/event-log.ts'
import { addToTally, beginTally, closeTally, tally } from '../../../support/fixtures/sample.ts'
import { WORKSPACE } from '../../../support/fixtures/spec.ts'
import {
  acceptedOutcome,
  createWriterFixture,
  execute,
  tallyAddition,
} from '../../../support/fixtures/writer-fixture.ts'
import { advanceUntil } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { createSeededRandom } from '../../../support/memory/random.ts'

const CLOSED = { type: 'TallyClosed' as const, data: {} }
const fail = (): never => {
  throw new Error('There is no event.')
}
const LARGEST_SEED = 2 ** 32 - 1

/** A log on which the next appends conflict, and the revisions from which it was read. */
function withConflicts(log: EventLog, conflicts: number) {
  let left = conflicts
  const readFrom: number[] = []
  const appended: number[] = []
  return {
    log: {
      ...log,
      async append(stream, expected, events) {
        if (left-- > 0) return { ok: false, conflict: true }
        appended.push(events.length)
        return log.append(stream, expected, events)
      },
      read(stream, from, limit) {
        readFrom.push(from)
        return log.read(stream, from, limit)
      },
    } satisfies EventLog,
    readFrom,
    appended,
  }
}

/** A writer that knows a tally, on a log with conflicts; time moves by hand, and every seed is the same. */
async function conflictingWriter(conflicts: number, seed: number) {
  const { log, clock, writer } = createWriterFixture()
  await execute(writer(), beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })
  const faulty = withConflicts(log, conflicts)
  const pauses: number[] = []
  const met: (readonly [string, boolean])[] = []
  const watched: typeof clock = {
    ...clock,
    schedule(instant, wake) {
      pauses.push(instant - clock.now())
      return clock.schedule(instant, wake)
    },
  }
  const random = { ...createSeededRandom(1), seed: () => seed }
  const one = writer({
    log: faulty.log,
    clock: watched,
    random,
    onAppend: (stream, conflict) => met.push([stream, conflict]),
  })
  return { one, clock, pauses, met, ...faulty, log }
}

describe('a conflict', () => {
  it.each([
    ['half the delay at the least', 0, [2, 4, 8, 16, 32, 64, 125, 125]],
    ['the whole delay at the most', LARGEST_SEED, [4, 8, 16, 32, 64, 128, 250, 250]],
  ])('is followed by a pause that grows with those before it, %s', async (_what, seed, delays) => {
    const { one, clock, pauses, met } = await conflictingWriter(delays.length, seed)
    let done = false
    const outcome = acceptedOutcome(execute(one, addToTally, tallyAddition)).finally(() => {
      done = true
    })
    await advanceUntil(clock, () => done)
    expect(pauses.map((pause) => Math.round(pause))).toEqual(delays)
    expect(await outcome).toMatchObject({ events: [{ revision: 1 }] })
    const stream = streamOf(tally, tallyAddition.tallyId, WORKSPACE)
    expect(met).toEqual([...delays.map(() => [stream, true]), [stream, false]])
  })

  it('decides with what came in during the pause, in one append', async () => {
    const { one, clock, appended } = await conflictingWriter(1, 0)
    const first = acceptedOutcome(execute(one, addToTally, tallyAddition))
    await clock.advance(1)
    const others = [1, 2, 3].map(() => acceptedOutcome(execute(one, addToTally, tallyAddition)))
    await clock.advance(1)
    expect(appended).toEqual([4])
    expect((await Promise.all([first, ...others])).map(({ events }) => events[0]?.revision)).toEqual([1, 2, 3, 4])
  })

  it('reads only the tail of the stream, and after the second in a row the newest event that it knows', async () => {
    const { one, clock, readFrom } = await conflictingWriter(2, 0)
    const outcome = acceptedOutcome(execute(one, addToTally, tallyAddition))
    await clock.advance(10)
    await outcome
    expect(readFrom).toEqual([0, 1, 0, 1])
  })

  it('is not needed to meet another process: the tail that is read for a decision without events tells as well', async () => {
    const { one, clock, met, log } = await conflictingWriter(0, 0)
    await acceptedOutcome(execute(one, addToTally, tallyAddition))
    const { stream, type, version, data, meta } = log.events.at(-1) ?? fail()
    await log.append(stream, 1, [{ type, version, data, meta: { ...meta, eventId: 'another' } }])
    const closing = { ...closeTally, decide: (_: unknown, { sum }: { sum: number }) => (sum < 2 ? [] : [CLOSED]) }
    expect(await acceptedOutcome(execute(one, closing, { tallyId: tallyAddition.tallyId }))).toMatchObject({
      events: [{ revision: 3 }],
    })
    await clock.advance(1)
    expect(met.map(([, isMet]) => isMet)).toEqual([false, true])
  })

  it('after an append begins at the first pause again', async () => {
    const { one, clock, pauses, log } = await conflictingWriter(3, 0)
    const first = acceptedOutcome(execute(one, addToTally, tallyAddition))
    await clock.advance(20)
    const [{ stream = '', revision = 0, type = '', version = 1, data, meta } = {}] = (await first).events
    if (meta) await log.append(stream, revision, [{ type, version, data, meta: { ...meta, eventId: 'another' } }])
    const second = acceptedOutcome(execute(one, addToTally, tallyAddition))
    await clock.advance(20)
    expect(await second).toMatchObject({ events: [{ revision: 3 }] })
    expect(pauses).toEqual([2, 4, 8, 2])
  })

  it('on a truncated stream fails the command with a sentence, and the next command is decided on what is left', async () => {
    const { log, clock, writer } = createWriterFixture()
    await execute(writer(), beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })
    const restored = createMemoryLog(log.events)
    let present: EventLog = log
    const one = writer({
      clock,
      log: {
        ...log,
        append: (...given) => present.append(...given),
        read: (...given) => present.read(...given),
      },
    })
    const add = async () => {
      const outcome = Promise.allSettled([acceptedOutcome(execute(one, addToTally, tallyAddition))])
      await clock.advance(20)
      return (await outcome)[0]
    }
    expect(await add()).toMatchObject({ value: { events: [{ revision: 1 }] } })
    present = restored
    const stream = streamOf(tally, tallyAddition.tallyId, WORKSPACE)
    expect(await add()).toMatchObject({
      reason: { message: expect.stringContaining(`${stream} has no revision 1, which this process has read before`) },
    })
    expect(await add()).toMatchObject({ value: { events: [{ revision: 1 }] } })
  })
})
