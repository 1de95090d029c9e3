import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyEntity } from '../../../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../../../src/kernel/event.ts'
import type { OperationalStore } from '../../../../../src/ports/operational-store.ts'
import { StoreUnavailable } from '../../../../../src/ports/read-store.ts'
import { emptyFold, type Fold, foldEvents, markFold } from '../../../../../src/runtime/write/fold.ts'
import { pieceKey, snapshotIdOf } from '../../../../../src/runtime/write/snapshots/head.ts'
import { loadSnapshot } from '../../../../../src/runtime/write/snapshots/load-snapshot.ts'
import { createPace } from '../../../../../src/runtime/write/snapshots/pace.ts'
import { packLayers } from '../../../../../src/runtime/write/snapshots/pack-layers.ts'
import { readHead } from '../../../../../src/runtime/write/snapshots/piece-store.ts'
import { saveSnapshot } from '../../../../../src/runtime/write/snapshots/save-snapshot.ts'
import { nextNotebookEvent, notebook, notebookEvent } from '../../../../support/fixtures/notebook.ts'
import { plainState } from '../../../../support/fixtures/snapshots.ts'
import { createManualClock } from '../../../../support/memory/clock.ts'
import { createMemoryOperationalStore } from '../../../../support/memory/operational-store.ts'

const entity: AnyEntity = notebook
const STREAM = 'notebook-00-spec'
const MARK_EVERY = 4
const WRITES = ['put', 'putIf', 'delete'] as const

/** A store whose n-th write from now fails, before or after its effect; every later one until `heal` fails, too. */
function withCrash(store: OperationalStore) {
  let left = Number.POSITIVE_INFINITY
  let lost = false
  const crashing = { ...store }
  for (const method of WRITES) {
    const write = store[method] as (...args: unknown[]) => Promise<unknown>
    Object.assign(crashing, {
      [method]: async (...args: unknown[]) => {
        left -= 1
        if (left < 0 && !(left === -1 && lost)) throw new StoreUnavailable('The process has crashed.')
        const answer = await write(...args)
        if (left < 0) throw new StoreUnavailable('The process has crashed.')
        return answer
      },
    })
  }
  return {
    store: crashing,
    crash(after: number, isLost: boolean) {
      left = after
      lost = isLost
    },
    heal() {
      left = Number.POSITIVE_INFINITY
    },
  }
}

/** Processes that fold one stream and save its snapshots in one store. */
function createProcesses() {
  const ops = createMemoryOperationalStore()
  const { store, crash, heal } = withCrash(ops)
  const ports = { ops: store, clock: createManualClock() }
  const id = snapshotIdOf(entity, STREAM)
  const events: RecordedEvent[] = []
  const folds = new Map<number, { fold: Fold; damaged: string | null }>()

  /** A process's fold at the stream's tail; read from its snapshot when the process has none. */
  async function catchUp(process: number) {
    const known = folds.get(process)
    const loaded = known ? null : await loadSnapshot(ports, id)
    const start: Fold = known?.fold ?? (loaded?.mark ? { ...loaded.mark, marks: [loaded.mark] } : emptyFold(entity))
    const own = {
      fold: foldEvents(entity, start, events, MARK_EVERY),
      damaged: known?.damaged ?? loaded?.damaged ?? null,
    }
    folds.set(process, own)
    return own
  }

  return {
    ops,
    ports,
    id,
    events,
    catchUp,
    crash,
    /** Saves the newest mark of a process; `leaves` marks the fold as it is. The process ends when a write fails. */
    async save(process: number, leaves: boolean) {
      const own = await catchUp(process)
      if (leaves) own.fold = markFold(entity, own.fold)
      const mark = own.fold.marks.at(-1)
      if (!mark) return null
      try {
        await packLayers(mark, createPace())
        const { damaged } = own
        return await saveSnapshot(ports, { id, mark, known: own.fold.marks, damaged, owner: `process ${process}` })
      } catch {
        heal()
        folds.delete(process)
        return null
      }
    },
    restart: (process: number) => void folds.delete(process),
  }
}

/** Keys of the stored pieces of the stream. */
async function storedPieces({ ops }: ReturnType<typeof createProcesses>): Promise<readonly string[]> {
  return (await ops.list('piece:', 0)).map(({ key }) => key)
}

const process = fc.nat({ max: 2 })
const step = fc.oneof(
  { arbitrary: notebookEvent.map((next) => ({ kind: 'event' as const, next })), weight: 6 },
  { arbitrary: fc.record({ kind: fc.constant('save' as const), process, leaves: fc.boolean() }), weight: 3 },
  fc.record({ kind: fc.constant('crash' as const), process, after: fc.nat({ max: 8 }), lost: fc.boolean() }),
  fc.record({ kind: fc.constant('restart' as const), process }),
)
const damage = fc.record({ kind: fc.constant('damage' as const), place: fc.nat(), byte: fc.nat(), gone: fc.boolean() })
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never
type Damage = typeof damage extends fc.Arbitrary<infer One> ? One : never

/** Plays steps, and checks after each that every process has the state to which the whole stream folds. */
async function play(steps: readonly (Step | Damage)[]) {
  const processes = createProcesses()
  const { ops, events } = processes
  for (const one of steps) {
    if (one.kind === 'event') events.push(nextNotebookEvent(events, one.next))
    else if (one.kind === 'restart') processes.restart(one.process)
    else if (one.kind === 'save') await processes.save(one.process, one.leaves)
    else if (one.kind === 'crash') {
      processes.crash(one.after, one.lost)
      await processes.save(one.process, true)
      processes.crash(Number.POSITIVE_INFINITY, false)
    } else {
      const keys = await storedPieces(processes)
      const key = keys[one.place % Math.max(1, keys.length)]
      if (key === undefined) continue
      const bytes = new Uint8Array((await ops.get(key, 0))?.value as Uint8Array)
      bytes[one.byte % bytes.length] = (bytes[one.byte % bytes.length] ?? 0) ^ 1
      if (one.gone) await ops.delete(key)
      else await ops.put(key, bytes, null)
    }
    const whole = foldEvents(entity, emptyFold(entity), events)
    processes.restart(9)
    for (const name of [0, 1, 2, 9]) {
      const { fold } = await processes.catchUp(name)
      expect(fold.revision).toBe(whole.revision)
      expect(plainState([fold.state, fold.commands])).toEqual(plainState([whole.state, whole.commands]))
    }
  }
  return processes
}

describe('the snapshots of a stream', () => {
  it('with its tail are the fold of the whole stream, whoever saves them, and wherever one crashes', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => void (await play(steps))),
      {
        numRuns: 60,
      },
    ))

  it('have no entry that was deleted after another process had stored it', async () => {
    const recalled = (type: string): Step => ({
      kind: 'event',
      next: { event: { type, data: { key: 'key', text: '' } }, afterMs: 1 },
    })
    const save = (process: number, leaves: boolean): Step => ({ kind: 'save', process, leaves })
    // Process 1 has read on before 0 stores the entry, so it continues a snapshot whose mark it does not have.
    const steps = ['Recalled', 'Noted', 'Noted', 'Noted'].map(recalled)
    const between = [recalled('Recalled'), save(0, true), recalled('Forgotten'), recalled('Noted'), recalled('Noted')]
    await play([...steps, save(1, false), ...between, save(1, false)])
    await play([
      recalled('Noted'),
      recalled('Recalled'),
      save(0, true),
      recalled('Forgotten'),
      recalled('Noted'),
      save(1, false),
    ])
  })

  it('are never read when a piece is damaged or gone', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ arbitrary: step, weight: 6 }, damage), { maxLength: 50 }),
        async (steps) => void (await play(steps)),
      ),
      { numRuns: 60 },
    ))

  it('leave no piece behind that none of the last two needs, after any crash', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), notebookEvent, async (steps, next) => {
        const processes = await play(steps)
        for (let n = 0; n < 3; n++) {
          processes.events.push(nextNotebookEvent(processes.events, next))
          await processes.ports.clock.advance(60_000)
          expect(await processes.save(0, true)).toBe('saved')
        }
        const { head } = await readHead(processes.ports, processes.id)
        const known = [...(head?.pieces.map(({ number }) => number) ?? []), ...(head?.dropped ?? [])]
        const stored = await storedPieces(processes)
        expect(stored.toSorted()).toEqual(known.map((number) => pieceKey(processes.id, number)).toSorted())
      }),
      { numRuns: 40 },
    ))
})
