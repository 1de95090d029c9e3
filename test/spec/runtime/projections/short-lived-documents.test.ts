import { expect, test } from 'vitest'
import type { DocumentWrite, ReadStore } from '../../../../src/ports/read-store.ts'
import { runProjections } from '../../../../src/runtime/projections/projection-runner.ts'
import { appendTo, closed, openTallies, tallyBegun } from '../../../support/fixtures/sample.ts'
import { advanceUntil, createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { ownEverything } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

/** What is written of three tallies, the last of which is still open, and then of its end. */
async function writesOver(store: ReadStore): Promise<readonly (readonly [id: string, gone: boolean])[]> {
  const [log, clock, stop] = [createMemoryLog(), createManualClock(), new AbortController()]
  for (const tally of ['a', 'b', 'c']) await appendTo(log, `tally-${tally}`, clock.now(), tallyBegun('t'))
  for (const tally of ['a', 'b']) await appendTo(log, `tally-${tally}`, clock.now(), closed)
  const written: DocumentWrite[] = []
  const watched: ReadStore = {
    ...store,
    commit(writes, move) {
      written.push(...writes.filter(({ collection }) => collection.startsWith(openTallies.name)))
      return store.commit(writes, move)
    },
  }
  const runner = runProjections({
    log,
    store: watched,
    ownership: ownEverything(),
    projections: [openTallies],
    clock,
    signal: stop.signal,
  })
  await advanceUntil(clock, () => written.some(({ id }) => id === 'c'))
  await appendTo(log, 'tally-c', clock.now(), closed)
  await advanceUntil(clock, () => written.some(({ id, doc }) => id === 'c' && doc === null))
  stop.abort()
  await runner.done
  return written.map(({ id, doc }) => [id, doc === null])
}

test('a document created and removed within one batch is not written when batches are atomic', async () => {
  expect(await writesOver(createMemoryReadStore({ atomic: true }))).toEqual([
    ['c', false],
    ['c', true],
  ])
  expect(await writesOver(createMemoryReadStore({ atomic: false }))).toEqual([
    ['a', true],
    ['b', true],
    ['c', false],
    ['c', true],
  ])
})
