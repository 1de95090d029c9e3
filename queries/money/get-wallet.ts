import { z } from 'zod'
import { walletEntries } from '../../projections/money/wallet-entries.ts'
import { wallets } from '../../projections/money/wallets.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { pageOf } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { listQuery, readListPage } from '../shared/listing.ts'
import { timeWindowProblem } from '../shared/time-window.ts'
import { walletFigures } from './wallet-figures.ts'
import { entriesFilter, entryFilters, entryShape, entryShapeOf } from './wallet-shape.ts'

/** The wallet: balance, reservations, and a page of its entries, newest first. */
export const getWallet = defineQuery({
  name: 'get-wallet',
  summary: 'Read the wallet and its book',
  mounts: [{ surface: 'console', path: '/api/tracking/wallet' }],
  params: z.object({}),
  query: z.object({ ...entryFilters, ...listQuery('wallet-entries', ['at']) }),
  response: z.object({ balanceCents: z.int(), reservedCents: z.int(), entries: pageOf(entryShape) }),
  reads: [wallets, walletEntries],
  rejects: ['validation-error'],
  async run({ views }: QueryPorts, { query, tenant: { workspaceId } }) {
    const problem = timeWindowProblem(query)
    if (problem) return problem
    const [figures, { docs, respond }] = await Promise.all([
      walletFigures(views, workspaceId),
      readListPage(views, walletEntries, entriesFilter(workspaceId, query), query, (_sort, way) => ({ revision: way })),
    ])
    return { ...figures, entries: respond(docs.map(entryShapeOf)) }
  },
})
