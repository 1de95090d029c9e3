import { expect, it } from 'vitest'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyEntity } from '../../../src/kernel/entity.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { callWorld, routeArrival } from '../../support/fixtures/call-world.ts'
import { loadFold, plainState, saveFold } from '../../support/fixtures/snapshots.ts'
import { recordedEvents } from '../../support/fixtures/spec.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

const entity: AnyEntity = ledger
const fold = foldEvents(ledger, emptyFold(ledger), recordedEvents(ledger, routeArrival(callWorld()).events))

it('a ledger snapshot of the present state version restores the fold', async () => {
  const ops = createMemoryOperationalStore()
  await saveFold(ops, entity, 'ledger-1', fold)
  const loaded = await loadFold(ops, entity, 'ledger-1')
  expect(loaded?.revision).toBe(fold.revision)
  expect(plainState(loaded?.state)).toEqual(plainState(fold.state))
  expect(loaded?.state).not.toEqual(ledger.initial)
})

it('a ledger snapshot of another state version is ignored, and stays', async () => {
  const ops = createMemoryOperationalStore()
  const older = { ...entity, version: entity.version - 1 }
  await saveFold(ops, older, 'ledger-1', fold)
  expect(await loadFold(ops, entity, 'ledger-1')).toBeNull()
  await saveFold(ops, entity, 'ledger-1', fold)
  expect(await loadFold(ops, older, 'ledger-1')).toMatchObject({ revision: fold.revision })
})
