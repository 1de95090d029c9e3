import { bidColumns, bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingColumns, pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { listPings } from '../../queries/auctions/list-pings.ts'
import { pingSummary } from '../../queries/auctions/ping-summary.ts'
import { openLocalFiles } from '../../src/adapters/files/local-files.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import type { CredentialStore } from '../../src/api/credential-store.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { projections } from '../../src/main/registry.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { withColumns } from '../../src/runtime/columns/column-store.ts'
import { withActiveBuilds } from '../../src/runtime/projections/active-builds.ts'
import { withExpiredHidden } from '../../src/runtime/queries/hide-expired.ts'
import { queryPorts } from '../support/fixtures/query-ports.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { pageFigure, servePages } from './page-server.ts'
import { type StoredPings, storePings } from './stored-pings.ts'
import { withDirectory } from './temp-directory.ts'

const PAGE = 20_000
const TIMES = 10
const DAY_MS = 86_400_000

/** The values that the summary sums, as arrays by row; texts are codes. */
interface Arrays {
  readonly rows: number
  readonly atMs: Float64Array
  readonly codes: readonly Int32Array[]
  readonly numbers: Int32Array
}

/** Reads the code columns and one number of a collection into typed arrays. */
async function readArrays(
  store: ReadStore,
  collection: string,
  codePaths: readonly string[],
  number: string,
  most: number,
): Promise<Arrays> {
  const known = codePaths.map(() => new Map<unknown, number>())
  const arrays = {
    atMs: new Float64Array(most),
    codes: codePaths.map(() => new Int32Array(most)),
    numbers: new Int32Array(most),
  }
  const codeOf = (place: number, value: unknown) => {
    const map = known[place] ?? new Map()
    const code = map.get(value) ?? map.size
    map.set(value, code)
    return code
  }
  let [row, after] = [0, -1]
  for (;;) {
    const page = await store.select(collection, ['atMs', number, ...codePaths, '_position'], {
      filter: { _position: { $gt: after } },
      sort: { _position: 1 },
      limit: PAGE,
    })
    if (page.length === 0) return { rows: row, ...arrays }
    for (const [atMs, value, ...rest] of page) {
      arrays.atMs[row] = Number(atMs)
      arrays.numbers[row] = Number(value ?? 0)
      codePaths.forEach((_, place) => {
        const column = arrays.codes[place]
        if (column) column[row] = codeOf(place, rest[place])
      })
      after = Number(rest.at(-1))
      row += 1
    }
  }
}

/** Counts by each code, and sums the number by the first one, in one pass. */
function sumOnePass({ rows, atMs, codes, numbers }: Arrays, from: number, to: number): readonly Float64Array[] {
  const counts = codes.map(() => new Float64Array(2_048))
  const sums = new Float64Array(2_048)
  for (let row = 0; row < rows; row++) {
    const at = atMs[row] as number
    if (at < from || at >= to) continue
    for (let place = 0; place < codes.length; place++) {
      const code = (codes[place] as Int32Array)[row] as number
      const count = counts[place] as Float64Array
      count[code] = (count[code] as number) + 1
    }
    const first = (codes[0] as Int32Array)[row] as number
    sums[first] = (sums[first] as number) + (numbers[row] as number)
  }
  return [...counts, sums]
}

async function summaryFigure(
  directory: string,
  pings: number,
  { workspaceId, newestMs }: StoredPings,
): Promise<Figure> {
  const store = await openSqliteReadStore(`${directory}/views.db`)
  const inbound = ['outcome', 'elapsedMs', 'reasonCode', 'publisher.id']
  const arrays = await readArrays(store, collectionOf(pingLedger), inbound, 'payoutCents', pings)
  const bids = await readArrays(store, collectionOf(bidLedger), ['status', 'latencyMs', 'target.id'], 'bidCents', pings)
  const files = openLocalFiles(`${directory}/columns`)
  const columns = withColumns(store, { specs: [pingColumns, bidColumns], files, clock, random })
  const ports = queryPorts(withExpiredHidden(withActiveBuilds(columns, clock), projections, clock))
  const [from, to] = [newestMs - DAY_MS, newestMs]
  const context = {
    params: {},
    query: { direction: 'inbound' as const, from: new Date(from).toISOString(), to: new Date(to).toISOString() },
    tenant: { workspaceId, timezone: 'UTC' },
    surface: 'console' as const,
    now: new Date(newestMs).toISOString(),
  }
  const ours = async () => {
    const answer = await pingSummary.run(ports, context)
    if (isRefusal(answer)) throw new Error(`Refused: ${answer.refused}`)
    return answer
  }
  const summary = await ours()
  await columns.settled()
  if (summary.inbound.pings < pings * 0.9) throw new Error(`The summary has ${summary.inbound.pings} pings.`)
  const per = async (work: () => unknown) =>
    (await secondsOf(async () => {
      for (let n = 0; n < TIMES; n++) await work()
    })) *
    (1_000 / TIMES)
  const pairs = await alternate(
    () => per(ours),
    () => per(() => [sumOnePass(arrays, from, to), sumOnePass(bids, from, to)]),
  )
  await store.close()
  return figureOf(`summary of a day of ${pings.toLocaleString('en-US')} pings`, 'ms', { atMost: 5 }, pairs)
}

/** A credential of the stored workspace, whatever the secret. */
function credentialsOf(workspaceId: string): CredentialStore {
  return {
    credential: async (_kind, hash) => ({
      kind: 'key',
      keyId: workspaceId,
      workspaceId,
      name: 'Bench',
      scopes: ['pings:read'],
      ipAllowlist: [],
      rateLimitPerMinute: null,
      status: 'active',
      secrets: [{ hash, expiresAt: null }],
    }),
    workspace: async (id) => ({
      id,
      name: 'Bench',
      planId: 'scale',
      subscriptionStatus: 'active',
      timezone: 'UTC',
      sandbox: false,
    }),
  }
}

async function listFigure(directory: string, pings: number, { workspaceId }: StoredPings): Promise<Figure> {
  const pages = await servePages(directory, 'bench', { credentials: credentialsOf(workspaceId) }, listPings)
  const url = `${pages.baseUrl}/api/v1/pings?pageSize=25`
  const figure = await pageFigure(
    `page of 25 out of ${pings.toLocaleString('en-US')} pings, HTTP`,
    url,
    'svc_live_bench',
  )
  await pages.close()
  return figure
}

/** The summary of a day's pings, compared with one pass over typed arrays, and a page of their list, with the same bytes prebuilt. */
export function pingLedgerFigures(pings: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const stored = await storePings(directory, pings)
    return [await summaryFigure(directory, pings, stored), await listFigure(directory, pings, stored)]
  })
}
