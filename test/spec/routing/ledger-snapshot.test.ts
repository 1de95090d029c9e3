import { expect, it } from 'vitest'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyEntity } from '../../../src/kernel/entity.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { loadSnapshot, saveSnapshot } from '../../../src/runtime/write/snapshots.ts'
import { callWorld, routeArrival } from '../../support/fixtures/call-world.ts'
import { NOW, recordedEvents } from '../../support/fixtures/spec.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

const entity: AnyEntity = ledger
const now = Date.parse(NOW)
const fold = foldEvents(ledger, emptyFold(ledger), recordedEvents(ledger, routeArrival(callWorld()).events))

it('a ledger snapshot of the present state version restores the fold', async () => {
  const ops = createMemoryOperationalStore()
  await saveSnapshot(ops, entity, 'ledger-1', fold)
  expect(await loadSnapshot(ops, entity, 'ledger-1', now)).toMatchObject({ revision: fold.revision, state: fold.state })
})

it('a ledger snapshot of state version 3, whose fields had other names, is ignored', async () => {
  const ops = createMemoryOperationalStore()
  const { seenCalls, dialsWithoutOutcome, notifiedCaps, countedCalls, ...rest } = fold.state
  const old = { ...rest, known: seenCalls, unheard: dialsWithoutOutcome, told: notifiedCaps, booked: countedCalls }
  await saveSnapshot(ops, { ...entity, version: 3 }, 'ledger-1', { ...fold, state: old })
  expect(await ops.get('fold:ledger-1', now)).toMatchObject({ value: { version: 3, revision: fold.revision } })
  expect(await loadSnapshot(ops, entity, 'ledger-1', now)).toBeNull()
})
