import { describe, expect, it } from 'vitest'
import { withMeasuredAppends, withMeasuredCommits } from '../../../../src/main/metrics/measured-stores.ts'
import { LogUnavailable } from '../../../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'
import { someEvent } from '../../../support/fixtures/events.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

/** A time (ms) that is 250 ms later whenever it is read. */
function steppingTime(): () => number {
  let now = 0
  return () => {
    now += 250
    return now
  }
}

describe('a measured event log', () => {
  it('reports appends, conflicts and failures, each with its time', async () => {
    const ended: unknown[][] = []
    const log = createMemoryLog()
    const measured = withMeasuredAppends(log, (...end) => ended.push(end), steppingTime())
    const append = (expected: number) => measured.append('tree-00-a', expected, [someEvent(), someEvent()])
    expect(await append(-1)).toMatchObject({ ok: true, revision: 1 })
    expect(await append(-1)).toEqual({ ok: false, conflict: true })
    const away = { ...log, append: () => Promise.reject(new LogUnavailable('away')) }
    const failing = withMeasuredAppends(away, (...end) => ended.push(end), steppingTime())
    await expect(failing.append('tree-00-a', -1, [someEvent()])).rejects.toThrow(LogUnavailable)
    expect(ended).toEqual([
      ['appended', 0.25, 2],
      ['conflict', 0.25, 0],
      ['failed', 0.25, 0],
    ])
  })
})

describe('a measured read store', () => {
  it('reports commits, those of a lost checkpoint and failures, each with its time', async () => {
    const ended: unknown[][] = []
    const store = createMemoryReadStore()
    await store.ensure([{ name: 'trees_v1', indexes: [], columns: [] }])
    const measured = withMeasuredCommits(store, (...end) => ended.push(end), steppingTime())
    const checkpoint = { name: 'trees@1/00-ff', expected: null, next: { position: 3, at: null } }
    const write = { collection: 'trees_v1', id: 'a', position: 3, doc: { height: 1 } }
    expect(await measured.commit([write], checkpoint)).toBe(true)
    expect(await measured.commit([write], checkpoint)).toBe(false)
    const away = { ...store, commit: () => Promise.reject(new StoreUnavailable('away')) }
    const failing = withMeasuredCommits(away, (...end) => ended.push(end), steppingTime())
    await expect(failing.commit([write], checkpoint)).rejects.toThrow(StoreUnavailable)
    expect(ended).toEqual([
      ['committed', 0.25, 1],
      ['overtaken', 0.25, 0],
      ['failed', 0.25, 0],
    ])
  })
})
