import { describe, expect, it } from 'vitest'
import { parseStreamName } from '../../../../src/kernel/entity.ts'
import { ALL_PARTITIONS, partitionOf, rangesOf } from '../../../../src/kernel/partition.ts'
import { START } from '../../../../src/ports/event-log.ts'
import { lateBuilds, oldestUnfolded } from '../../../../src/runtime/projections/oldest-unfolded.ts'
import { added, appendIn, appendTo, openTallies, tallyBegun, tallyBook } from '../../../support/fixtures/sample.ts'
import { createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'

const LIMIT_MS = 5_000

const lane = (position: number, range = ALL_PARTITIONS) => ({ range, position, holder: null })
const whole = (position: number) => ({ lanes: [lane(position)] })

/** A log, and ways to append one event of each type. */
function logFixture() {
  const [clock, log] = [createManualClock(), createMemoryLog()]
  const positions = () => log.events.map(({ position }) => position)
  return {
    clock,
    log,
    positions,
    begin: (tally: string) => appendTo(log, tally, clock.now(), tallyBegun('x')),
    add: (tally: string) => appendTo(log, tally, clock.now(), added(1)),
  }
}

describe('the age of the oldest event that a build has not folded', () => {
  it('is that of the first one of its types', async () => {
    const { clock, log, begin, add, positions } = logFixture()
    await begin('tally-1')
    await clock.advance(1_000)
    await add('tally-1')
    await clock.advance(2_000)
    expect(await oldestUnfolded({ log, clock }, openTallies, whole(START))).toBe(3_000)
    expect(await oldestUnfolded({ log, clock }, tallyBook, whole(START))).toBe(2_000)
    expect(await oldestUnfolded({ log, clock }, tallyBook, whole(positions()[1] ?? 0))).toBeNull()
  })

  it('is that of any range, not only of the one that has come least far', async () => {
    const { clock, log, begin } = logFixture()
    await begin('tally-1')
    await begin('tally-2')
    const { workspaceId } = log.events[0]?.meta ?? {}
    const own = partitionOf(workspaceId ?? '')
    const lanes = rangesOf(2).map((range) => lane(range.from <= own && own <= range.to ? 0 : START, range))
    await clock.advance(700)
    expect(await oldestUnfolded({ log, clock }, openTallies, { lanes })).toBe(700)
  })
})

describe('the builds that are late', () => {
  it('are those with an event older than the limit, and not at the limit', async () => {
    const { clock, log, begin } = logFixture()
    await begin('tally-1')
    const builds = [
      { projection: openTallies, build: whole(START) },
      { projection: tallyBook, build: whole(START) },
    ]
    await clock.advance(LIMIT_MS)
    expect(await lateBuilds({ log, clock }, builds, LIMIT_MS)).toEqual(new Map())
    await clock.advance(1)
    // The other has no event of its types.
    expect(await lateBuilds({ log, clock }, builds, LIMIT_MS)).toEqual(new Map([['open-tallies', LIMIT_MS + 1]]))
  })

  it('are none after an idle spell, however old the checkpoint is', async () => {
    const { clock, log, begin, positions } = logFixture()
    await begin('tally-1')
    const builds = [{ projection: openTallies, build: whole(positions()[0] ?? 0) }]
    await clock.advance(3_600_000)
    expect(await lateBuilds({ log, clock }, builds, LIMIT_MS)).toEqual(new Map())
    await begin('tally-2')
    expect(await lateBuilds({ log, clock }, builds, LIMIT_MS)).toEqual(new Map())
  })

  it('are found behind many events that another has not folded either, each with its oldest', async () => {
    const { clock, log, begin, add } = logFixture()
    await begin('tally-1')
    for (let n = 0; n < 300; n++) await begin(`tally-${n + 2}`)
    await clock.advance(4_000)
    await add('tally-1')
    await clock.advance(6_000)
    const builds = [
      { projection: tallyBook, build: whole(START) },
      { projection: openTallies, build: whole(START) },
    ]
    expect(await lateBuilds({ log, clock }, builds, LIMIT_MS)).toEqual(
      new Map([
        ['open-tallies', 10_000],
        ['tally-book', 6_000],
      ]),
    )
  })

  it('count the events of a range from its own position', async () => {
    const { clock, log, positions } = logFixture()
    await appendIn('w1', log, 'tally-1', clock.now(), tallyBegun('x'))
    const [stream] = log.events.map((event) => event.stream)
    expect(stream && parseStreamName(stream).id).toBe('1')
    const own = partitionOf('w1')
    const lanes = rangesOf(2).map((range) => {
      const isOwn = range.from <= own && own <= range.to
      return lane(isOwn ? (positions()[0] ?? 0) : START, range)
    })
    await clock.advance(60_000)
    expect(await lateBuilds({ log, clock }, [{ projection: openTallies, build: { lanes } }], LIMIT_MS)).toEqual(
      new Map(),
    )
  })

  it('are none where nothing is read', async () => {
    const { clock, log } = logFixture()
    expect(await lateBuilds({ log, clock }, [], LIMIT_MS)).toEqual(new Map())
  })
})
