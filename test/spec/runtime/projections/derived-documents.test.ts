import { describe, expect, test } from 'vitest'
import type { AnyProjection } from '../../../../src/kernel/projection.ts'
import { applyPending } from '../../../../src/runtime/projections/apply-pending.ts'
import type { Halt } from '../../../../src/runtime/projections/build-ports.ts'
import { runProjections } from '../../../../src/runtime/projections/projection-runner.ts'
import { project } from '../../../support/fixtures/project.ts'
import { added, appendTo, tallyBegun, tallyTotals } from '../../../support/fixtures/sample.ts'
import { advanceUntil, createManualClock } from '../../../support/memory/clock.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'
import { ownEverything } from '../../../support/memory/ownership.ts'
import { createMemoryReadStore } from '../../../support/memory/read-store.ts'

// A projection of any document, to be made another by spreading it.
const anyTotals: AnyProjection = tallyTotals
const ON = { begun: 3, added: 28, twice: 56 }

async function filled() {
  const [log, clock] = [createMemoryLog(), createManualClock()]
  for (const amount of [4, 7, 17]) await appendTo(log, `tally-${amount}`, clock.now(), tallyBegun('t'), added(amount))
  return { log, clock }
}

test('a document that changes its workspace is a fault of its reducer', async () => {
  const { log } = await filled()
  const moving: AnyProjection = {
    ...anyTotals,
    derive: null,
    update: { TallyBegun: (doc) => ({ ...doc, workspaceId: 'w2' }) },
  }
  await expect(project(moving, log.events)).rejects.toThrow('Document all changes its workspace.')
})

const twice = (doc: { readonly added: number }) => ({ ...doc, twice: doc.added * 2 })

describe('derived fields of a document', () => {
  test('are computed once for all events of a batch, and never stale', async () => {
    const { log } = await filled()
    let derived = 0
    const projection: AnyProjection = {
      ...anyTotals,
      derive: (doc) => {
        derived += 1
        return twice(doc)
      },
    }
    expect((await project(projection, log.events)).all).toMatchObject(ON)
    expect(derived).toBe(2)
    const singly = log.events.map(() => ({ size: 1, crash: null }))
    expect((await project(projection, log.events, singly)).all).toMatchObject(ON)
  })

  test('are part of documents with pending events, and of emitted documents', async () => {
    const { log } = await filled()
    const projection: AnyProjection = {
      ...anyTotals,
      derive: twice,
      emit: (doc, { position }, id) => [{ id: `${id}-${position}`, doc: { workspaceId: doc.workspaceId, added: 1 } }],
    }
    expect(applyPending(projection, 'all', null, log.events, {})?.doc).toMatchObject(ON)
    const docs = await project(projection, log.events)
    expect(docs[`all-${log.events[0]?.position}`]).toMatchObject({ added: 1, twice: 2 })
  })

  test('halt the projection when computing them throws, without skipping an event', async () => {
    const { log, clock } = await filled()
    const store = createMemoryReadStore()
    const run = (derive: AnyProjection['derive'], onHalt: (halt: Halt) => void) => {
      const stop = new AbortController()
      const projections = [{ ...anyTotals, derive }]
      return {
        stop,
        ...runProjections({ log, store, ownership: ownEverything(), projections, clock, signal: stop.signal, onHalt }),
      }
    }
    const halts: Halt[] = []
    const faulty = run(
      () => {
        throw new RangeError('not this one')
      },
      (halt) => halts.push(halt),
    )
    await advanceUntil(clock, () => halts.length > 0)
    expect(halts).toMatchObject([{ name: 'tally-totals', message: 'RangeError: not this one' }])
    expect(store.all('tally-totals_v1')).toEqual({})
    faulty.stop.abort()
    await faulty.done
    const mended = run(twice, (halt) => halts.push(halt))
    const head = await log.head()
    await advanceUntil(clock, () => (mended.status()[0]?.position ?? -1) >= head)
    expect(store.all('tally-totals_v1').all).toMatchObject(ON)
    mended.stop.abort()
    await mended.done
  })
})
