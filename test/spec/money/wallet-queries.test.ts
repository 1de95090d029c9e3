import { describe, expect, it } from 'vitest'
import { walletEntries } from '../../../projections/money/wallet-entries.ts'
import { wallets } from '../../../projections/money/wallets.ts'
import { getWallet } from '../../../queries/money/get-wallet.ts'
import { entryBatches } from '../../../queries/money/wallet-export.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { WALLET } from '../../../src/domain/shared/limits.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { collectionOf } from '../../../src/kernel/projection.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { project } from '../../support/fixtures/project.ts'
import { queryPorts } from '../../support/fixtures/query-ports.ts'
import { NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

const credited = (n: number): NewEvent => ({
  type: 'WalletCredited',
  data: {
    reference: `credit ${n}`,
    kind: 'credit',
    amountCents: 100,
    balanceCents: 100 * (n + 1),
    note: null,
    occurredAt: NOW,
  },
})
const charged = (reference: string, balanceCents: number): NewEvent => ({
  type: 'WalletCharged',
  data: { reference, kind: 'setup', amountCents: 100, balanceCents, note: 'Fee', callId: null, occurredAt: NOW },
})
const reserved = (reference: string, reservedCents: number): NewEvent => ({
  type: 'WalletReserved',
  data: { reference, amountCents: 100, reservedCents, occurredAt: NOW },
})
const freed = (reference: string, reservedCents: number): NewEvent => ({
  type: 'WalletReservationReleased',
  data: { reference, amountCents: 100, reservedCents, occurredAt: NOW },
})

async function viewsOf(events: readonly NewEvent[]) {
  const views = createMemoryReadStore()
  for (const projection of [wallets, walletEntries]) {
    const collection = collectionOf(projection)
    const docs = await project(projection, recordedEvents(wallet, events))
    const writes = Object.entries(docs).map(([id, doc]) => ({ collection, id, doc, position: 0 }))
    await views.commit(writes, { name: collection, expected: null, next: { position: 0, at: null } })
  }
  return views
}

async function ask(events: readonly NewEvent[], query: object = {}) {
  const answer = await getWallet.run(queryPorts(await viewsOf(events)), {
    params: {},
    query: getWallet.query.parse(query),
    tenant: { workspaceId: WORKSPACE, timezone: 'UTC' },
    surface: 'console',
    now: NOW,
  })
  if (isRefusal(answer)) return answer
  expect(getWallet.response.parse(answer)).toEqual(answer)
  return answer
}

describe('the wallet', () => {
  it('is empty before its first entry', async () => {
    expect(await ask([])).toEqual({
      balanceCents: 0,
      reservedCents: 0,
      entries: { data: [], page: 1, pageSize: 25, total: 0, totalPages: 0, nextCursor: null },
    })
  })

  it('lists the newest entry first, also within one millisecond', async () => {
    const events = [credited(0), charged('setup:1', 0), credited(0 + 2)]
    const answer = await ask(events)
    expect(answer).toMatchObject({ entries: { total: 3 } })
    expect('entries' in answer && answer.entries.data.map(({ reference }) => reference)).toEqual([
      'credit 2',
      'setup:1',
      'credit 0',
    ])
  })

  it('shows reservations until they are charged or released', async () => {
    const both = [credited(0), credited(1), reserved('setup:1', 100), reserved('setup:2', 200)]
    expect(await ask(both)).toMatchObject({ balanceCents: 200, reservedCents: 200 })
    const one = [...both, charged('setup:1', 100)]
    expect(await ask(one)).toMatchObject({ balanceCents: 100, reservedCents: 100 })
    expect(await ask([...one, freed('setup:2', 0)])).toMatchObject({ balanceCents: 100, reservedCents: 0 })
  })

  it('refuses a window that ends before it begins', async () => {
    expect(await ask([], { from: '2026-03-02', to: '2026-03-01' })).toMatchObject({
      refused: 'validation-error',
      details: { from: expect.any(String) },
    })
  })
})

describe('the export of the wallet', () => {
  it.each([0, 1, WALLET.exportBatch, WALLET.exportBatch + 1, 2 * WALLET.exportBatch])(
    'holds each of %i entries once, newest first, in batches',
    async (count) => {
      const views = await viewsOf(Array.from({ length: count }, (_, n) => credited(n)))
      const sizes: number[] = []
      const balances: number[] = []
      for await (const batch of entryBatches(views, WORKSPACE, {})) {
        sizes.push(batch.length)
        balances.push(...batch.map(({ balanceCents }) => balanceCents))
      }
      expect(sizes.every((size) => size > 0 && size <= WALLET.exportBatch)).toBe(true)
      expect(balances).toEqual(Array.from({ length: count }, (_, n) => 100 * (count - n)))
    },
  )
})
