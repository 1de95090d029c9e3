import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AnyEntity, anyEntityOf } from '../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import type { OperationalStore } from '../../src/ports/operational-store.ts'
import { emptyFold, type Fold, foldEvents } from '../../src/runtime/write/fold.ts'
import { headKey, pieceKey, snapshotIdOf } from '../../src/runtime/write/snapshots/head.ts'
import { PIECE_BYTES } from '../../src/runtime/write/snapshots/piece.ts'
import { readHead } from '../../src/runtime/write/snapshots/piece-store.ts'
import { nextNotebookEvent, notebook } from '../support/fixtures/notebook.ts'
import { loadFold, plainState, saveFold } from '../support/fixtures/snapshots.ts'
import { createManualClock } from '../support/memory/clock.ts'
import type { OperationalStoreSetup } from './operational-store.contract.ts'

const entity: AnyEntity = anyEntityOf(notebook)

/** Events that add texts of this length under keys of their own. */
function textEvents(type: string, count: number, length: number): readonly RecordedEvent[] {
  const events: RecordedEvent[] = []
  for (let n = 0; n < count; n++) {
    const data = { key: `${type} ${n}`, text: `${'é'.repeat(length)} ${n}` }
    events.push(nextNotebookEvent(events, { event: { type, data }, afterMs: 1 }))
  }
  return events
}

/** What snapshots do on every operational store: their values are as the store really keeps them. */
export function snapshotsContract(name: string, start: () => Promise<OperationalStoreSetup>): void {
  describe(`snapshots on ${name}`, () => {
    let under: OperationalStoreSetup
    beforeAll(async () => {
      under = await start()
    })
    afterAll(() => under.close())

    /** Folds events and saves the snapshot of a stream of its own. */
    async function saved(events: readonly RecordedEvent[]) {
      const stream = `notebook-00-${randomUUID()}`
      const id = snapshotIdOf(entity, stream)
      const sizes: number[] = []
      const spied: OperationalStore = {
        ...under.store,
        put(key, value, expiresAt) {
          if (value instanceof Uint8Array) sizes.push(value.byteLength)
          return under.store.put(key, value, expiresAt)
        },
      }
      const { fold, outcome } = await saveFold(spied, entity, stream, foldEvents(entity, emptyFold(entity), events))
      expect(outcome).toBe('saved')
      return { stream, id, sizes, fold }
    }
    const expectSame = (loaded: Fold | null, fold: Fold) => {
      expect(loaded?.revision).toBe(fold.revision)
      expect(plainState([loaded?.state, loaded?.commands])).toEqual(plainState([fold.state, fold.commands]))
    }

    test('keep a state of several megabytes in values of at most one, and read it in another process', async () => {
      for (const type of ['Noted', 'Recalled']) {
        const { stream, sizes, fold } = await saved(textEvents(type, 1_200, 600))
        expect(sizes.length).toBeGreaterThan(1)
        expect(Math.max(...sizes)).toBeLessThanOrEqual(PIECE_BYTES)
        expectSame(await loadFold(under.other, entity, stream), fold)
      }
    })

    test('keep a value that fills a piece, and none that needs two', async () => {
      // The text is two bytes a letter; one map has it as a value, another one in a key.
      const { stream, sizes, fold } = await saved(textEvents('Recalled', 1, 499_000))
      expect(sizes.filter((size) => size > 990_000)).toHaveLength(2)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(PIECE_BYTES)
      expectSame(await loadFold(under.other, entity, stream), fold)
      await expect(saved(textEvents('Recalled', 1, 500_000))).rejects.toThrow(RangeError)
    })

    test('are none while a piece is missing or cut short', async () => {
      const { stream, id } = await saved(textEvents('Noted', 10, 10))
      const { head } = await readHead({ ops: under.store, clock: createManualClock() }, id)
      const key = pieceKey(id, head?.pieces[0]?.number ?? -1)
      const bytes = (await under.store.get(key, 0))?.value as Uint8Array
      await under.store.put(key, bytes.slice(0, -1), null)
      expect(await loadFold(under.other, entity, stream)).toBeNull()
      await under.store.delete(key)
      expect(await loadFold(under.other, entity, stream)).toBeNull()
      await under.store.put(key, bytes, null)
      expect(await loadFold(under.other, entity, stream)).not.toBeNull()
      await under.store.delete(headKey(id))
      expect(await loadFold(under.other, entity, stream)).toBeNull()
    })
  })
}
