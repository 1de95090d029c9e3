import { describe, expect, it, test } from 'vitest'
import type { RecordedEvent } from '../../../../src/kernel/event.ts'
import type { LogPage } from '../../../../src/ports/event-log.ts'
import { BACKGROUND_PAGE, createBackgroundPages } from '../../../../src/runtime/lanes/background-pages.ts'
import { createManualClock } from '../../../support/memory/clock.ts'

const { events: PAGE } = BACKGROUND_PAGE

/** A page with this number of events, the last of them at the position. */
function pageTo(position: number, events: number, end = false): LogPage {
  const at = (n: number) => ({ position: position - events + 1 + n }) as RecordedEvent
  return { events: Array.from({ length: events }, (_, n) => at(n)), position, end }
}

function fixture() {
  const clock = createManualClock()
  const pages = createBackgroundPages(clock, new AbortController().signal)
  let head = 0
  return {
    clock,
    pages,
    /** Live events that arrive; two are owed for each. */
    arrive(events: number) {
      head += events
      pages.count(pageTo(head, events))
    },
    /** Has a background page end without events, so that what is owed stays. */
    turn() {
      pages.begin(true)
      pages.end(0)
    },
    /** How long the pause after ten milliseconds of work is (ms); null where the next page has none. */
    async pauseMs() {
      const { pause } = pages.begin(true)
      pages.end(0)
      if (pause === null) return null
      await clock.advance(10)
      const begun = clock.now()
      let ended = begun
      const pausing = pause().then(() => {
        ended = clock.now()
      })
      await clock.advance(1_000)
      await pausing
      return ended - begun
    },
  }
}

describe('background pages', () => {
  it('are unbounded and without pauses while nothing arrives', async () => {
    const { pages, arrive, clock } = fixture()
    expect(pages.begin(true)).toEqual({ maxEvents: Number.POSITIVE_INFINITY, pause: null })
    pages.end(0)
    arrive(1)
    expect(pages.begin(true).maxEvents).toBe(PAGE)
    pages.end(0)
    await clock.advance(2_000)
    expect(pages.begin(true).maxEvents).toBe(Number.POSITIVE_INFINITY)
  })

  it('have no pauses for lanes of which one may not pause', () => {
    const { pages, arrive } = fixture()
    arrive(1)
    expect(pages.begin(false).pause).toBeNull()
  })

  test.each([
    ['all of it while a page is owed at most', PAGE / 2, 120],
    ['half of it at one page and a half', (PAGE * 3) / 4, 60],
    ['none from two pages on', PAGE, null],
  ])('take twelve times their work as a pause, and %s', async (_what, arrived, pauseMs) => {
    const { arrive, turn, pauseMs: measured } = fixture()
    turn()
    arrive(arrived)
    expect(await measured()).toBe(pauseMs)
  })

  it('owe two events for each that arrives, once, however many live pages have it', () => {
    const { pages, turn } = fixture()
    turn()
    pages.count(pageTo(800, 800))
    pages.count(pageTo(800, 500))
    pages.count(pageTo(850, 100))
    expect(pages.begin(true).maxEvents).toBe(2 * 850)
    pages.end(700)
    expect(pages.begin(true).maxEvents).toBe(PAGE)
    pages.end(0)
    pages.count(pageTo(1_000, 150))
    expect(pages.begin(true).maxEvents).toBe(2 * 1_000 - 700)
  })

  it('owe nothing for what arrived before a rebuild', async () => {
    const { pages, arrive, turn, clock } = fixture()
    turn()
    await clock.advance(2_000)
    arrive(PAGE)
    expect(pages.begin(true).maxEvents).toBe(PAGE)
  })

  test.each([
    [128, true, true],
    [129, true, false],
    [128, false, false],
  ])('of %i events, at the end of the log: %s, are the last: %s', (events, end, isLast) => {
    expect(fixture().pages.isLast(pageTo(1_000, events, end))).toBe(isLast)
  })

  it('are under way from their beginning to their end', () => {
    const { pages } = fixture()
    expect(pages.isUnderWay()).toBe(false)
    pages.begin(true)
    expect(pages.isUnderWay()).toBe(true)
    pages.end(0)
    expect(pages.isUnderWay()).toBe(false)
  })
})
