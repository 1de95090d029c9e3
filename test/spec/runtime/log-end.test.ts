import { describe, expect, it } from 'vitest'
import { type EventLog, START } from '../../../src/ports/event-log.ts'
import { createLogEndBefore, furthestOf } from '../../../src/runtime/log-end.ts'

/** A log with the positions of its events and of a server's own, which no reader sees; counts its pages. */
function logFixture(state: { events: readonly number[]; foreign?: readonly number[] }, pageSize = 2) {
  const counts = { pages: 0 }
  const log: Pick<EventLog, 'head' | 'readAll'> = {
    head: async () => state.events.at(-1) ?? START,
    async readAll(after) {
      counts.pages += 1
      const all = [...state.events, ...(state.foreign ?? [])].toSorted((one, other) => one - other)
      const later = all.filter((position) => position > after)
      const page = later.slice(0, pageSize)
      return { events: [], position: page.at(-1) ?? after, end: later.length <= page.length }
    },
  }
  return { endBefore: createLogEndBefore(log), counts, state }
}

describe('the end of a log', () => {
  it('is before a position beyond the newest event, and not before that of the newest event', async () => {
    const { endBefore } = logFixture({ events: [3, 6] })
    expect(await endBefore(START)).toBeNull()
    expect(await endBefore(6)).toBeNull()
    expect(await endBefore(7)).toBe(6)
  })

  it('of an empty log is before any position', async () => {
    const { endBefore } = logFixture({ events: [] })
    expect(await endBefore(START)).toBeNull()
    expect(await endBefore(0)).toBe(START)
  })

  it("is after what a server has written by itself, to which readers' positions move", async () => {
    const { endBefore } = logFixture({ events: [3], foreign: [5, 7, 9, 11] })
    expect(await endBefore(11)).toBeNull()
    expect(await endBefore(12)).toBe(11)
  })

  it('is read on once, and from its newest event alone where that is enough', async () => {
    const { endBefore, counts } = logFixture({ events: [3], foreign: [5, 7, 9, 11] })
    await endBefore(3)
    expect(counts.pages).toBe(0)
    for (const position of [11, 11, 9]) expect(await endBefore(position)).toBeNull()
    expect(counts.pages).toBe(2)
  })

  it('is looked for again once the log has gone back', async () => {
    const { endBefore, state } = logFixture({ events: [3, 6, 9] })
    expect(await endBefore(9)).toBeNull()
    state.events = [3]
    expect(await endBefore(9)).toBe(3)
    state.events = [3, 6, 9]
    expect(await endBefore(9)).toBeNull()
  })
})

it('the furthest position of none is the start', () => {
  expect(furthestOf([])).toBe(START)
  expect(furthestOf([{ position: 4 }, { position: 9 }, { position: 2 }])).toBe(9)
})
