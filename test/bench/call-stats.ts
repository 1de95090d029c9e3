import { callColumns, callLog } from '../../projections/calls/call-log.ts'
import { callStatsOf } from '../../queries/calls/call-stats.ts'
import { openLocalFiles } from '../../src/adapters/files/local-files.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { collectionOf } from '../../src/kernel/projection.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import type { Doc, ReadStore } from '../../src/ports/read-store.ts'
import { withColumns } from '../../src/runtime/columns/column-store.ts'
import { withActiveBuilds } from '../../src/runtime/projections/active-builds.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { type StoredCalls, storeCalls } from './stored-calls.ts'
import { withDirectory } from './temp-directory.ts'

const SUMMED = [
  'connectedCount',
  'convertedCount',
  'unroutedCount',
  'revenueCents',
  'payoutCents',
  'profitCents',
  'usageCents',
  'talkSeconds',
] as const
const TIMES = 40
const WEEK_MS = 7 * 86_400_000
const PAGE = 20_000

/** The summed fields, starts and campaigns of all calls as arrays by row. */
interface Arrays {
  readonly rows: number
  readonly summed: readonly Int32Array[]
  readonly startedMs: Float64Array
  readonly campaigns: Int32Array
  readonly campaignIds: readonly (string | null)[]
}

async function readArrays(store: ReadStore, rows: number): Promise<Arrays> {
  const arrays = {
    rows,
    summed: SUMMED.map(() => new Int32Array(rows)),
    startedMs: new Float64Array(rows),
    campaigns: new Int32Array(rows),
    campaignIds: [] as (string | null)[],
  }
  let after = -1
  for (let row = 0; row < rows; ) {
    const filter = { _position: { $gt: after } }
    const page = await store.find(collectionOf(callLog), { filter, sort: { _position: 1 }, limit: PAGE })
    if (page.length === 0) return { ...arrays, rows: row }
    for (const { doc, position } of page) {
      readRow(arrays, row++, doc)
      after = position
    }
  }
  return arrays
}

function readRow(
  {
    summed,
    startedMs,
    campaigns,
    campaignIds,
  }: Omit<Arrays, 'campaignIds'> & { readonly campaignIds: (string | null)[] },
  row: number,
  doc: Doc,
): void {
  SUMMED.forEach((field, n) => {
    const values = summed[n]
    if (values) values[row] = Number(doc[field])
  })
  startedMs[row] = Number(doc.startedMs)
  const campaign = (doc.campaign as { readonly id: string } | null)?.id ?? null
  const known = campaignIds.indexOf(campaign)
  campaigns[row] = known >= 0 ? known : campaignIds.push(campaign) - 1
}

/** Sums the rows of a window in one pass, and of one campaign if it is given. */
function sumOnePass(
  { rows, summed, startedMs, campaigns }: Arrays,
  from: number,
  to: number,
  campaign: number | null,
): readonly number[] {
  const [a, b, c, d, e, f, g, h] = summed as unknown as readonly [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ]
  const sums = new Float64Array(SUMMED.length + 1)
  for (let row = 0; row < rows; row++) {
    const at = startedMs[row] as number
    if (at < from || at >= to || (campaign !== null && campaigns[row] !== campaign)) continue
    sums[0] = (sums[0] as number) + 1
    sums[1] = (sums[1] as number) + (a[row] as number)
    sums[2] = (sums[2] as number) + (b[row] as number)
    sums[3] = (sums[3] as number) + (c[row] as number)
    sums[4] = (sums[4] as number) + (d[row] as number)
    sums[5] = (sums[5] as number) + (e[row] as number)
    sums[6] = (sums[6] as number) + (f[row] as number)
    sums[7] = (sums[7] as number) + (g[row] as number)
    sums[8] = (sums[8] as number) + (h[row] as number)
  }
  return [...sums]
}

async function figuresOver(
  { views, columns: directory, workspaceId }: StoredCalls,
  calls: number,
): Promise<readonly Figure[]> {
  const store = await openSqliteReadStore(views)
  const arrays = await readArrays(store, calls)
  const columns = withColumns(store, { specs: [callColumns], files: openLocalFiles(directory), clock, random })
  await columns.count(collectionOf(callLog), { workspaceId })
  await columns.settled()
  const read = withActiveBuilds(columns, clock)
  const [from, to] = [Date.now() - 2 * WEEK_MS, Date.now() + WEEK_MS]
  const window = { workspaceId, startedMs: { $gte: from, $lt: to } }
  const campaign = arrays.campaignIds.findIndex((id) => id !== null)
  const measure = async (name: string, one: number | null) => {
    const filter = one === null ? window : { ...window, 'campaign.id': arrays.campaignIds[one] ?? null }
    const [stats, sums] = [await callStatsOf(read, filter), sumOnePass(arrays, from, to, one)]
    if (stats.count !== sums[0] || stats.revenueCents !== sums[4]) throw new Error('The sums differ.')
    const perCall = async (work: () => unknown) => {
      const seconds = await secondsOf(async () => {
        for (let n = 0; n < TIMES; n++) await work()
      })
      return (seconds / TIMES) * 1_000
    }
    const pairs = await alternate(
      () => perCall(() => callStatsOf(read, filter)),
      () => perCall(() => sumOnePass(arrays, from, to, one)),
    )
    return figureOf(`stats over ${calls.toLocaleString('en-US')} calls, ${name}`, 'ms', { atMost: 10 }, pairs)
  }
  const figures = [await measure('no filter', null), await measure('one campaign', campaign)]
  await store.close()
  return figures
}

/** The figures of the call list for each number of calls, compared with the same sums over typed arrays in one pass. */
export function callStats(sizes: readonly number[]): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const stored = await storeCalls(directory)
    const figures: Figure[] = []
    for (const calls of sizes) {
      await stored.growTo(calls)
      figures.push(...(await figuresOver(stored, calls)))
    }
    return figures
  })
}
