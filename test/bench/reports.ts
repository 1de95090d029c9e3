import { join } from 'node:path'
import { bookColumns } from '../../projections/reporting/book-rows.ts'
import { callsReport } from '../../queries/reporting/calls-report.ts'
import { openLocalFiles } from '../../src/adapters/files/local-files.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { withColumns } from '../../src/runtime/columns/column-store.ts'
import { queryPorts } from '../support/fixtures/query-ports.ts'
import { generatedBooks, storeBooks, WINDOW, WORKSPACE } from './generated-books.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const TIMES = 5
const DAY_MS = 86_400_000
const DAYS = Math.ceil((WINDOW.toMs - WINDOW.fromMs) / DAY_MS)

/** The figures of every call as arrays, with its start and its campaign. */
function arraysOf(calls: number) {
  const arrays = {
    startedMs: new Float64Array(calls),
    campaigns: new Int32Array(calls),
    ids: [] as string[],
    figures: Array.from({ length: 9 }, () => new Int32Array(calls)),
  }
  for (let n = 0; n < calls; n++) {
    const books = generatedBooks(n, calls)
    const { outcome, campaign, talkSeconds, revenueCents, payoutCents, usageCents } = books
    const id = campaign?.id ?? ''
    const known = arrays.ids.indexOf(id)
    arrays.startedMs[n] = books.startedMs
    arrays.campaigns[n] = known >= 0 ? known : arrays.ids.push(id) - 1
    const [connected, converted] = [outcome === 'connected' || outcome === 'converted', outcome === 'converted']
    const unrouted = outcome === 'unrouted'
    const counts = [1, Number(connected), Number(converted), Number(unrouted), 0]
    for (const [at, value] of [...counts, revenueCents, payoutCents, usageCents, talkSeconds].entries()) {
      const figure = arrays.figures[at]
      if (figure) figure[n] = value
    }
  }
  return arrays
}

/** Sums the calls of a window by day and campaign, in one pass. */
function sumOnePass({ startedMs, campaigns, ids, figures }: ReturnType<typeof arraysOf>, from: number, to: number) {
  const [a, b, c, d, e, f, g, h, i] = figures as unknown as readonly [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ]
  const cells = new Float64Array(DAYS * ids.length * 9)
  for (let row = 0; row < startedMs.length; row++) {
    const at = startedMs[row] as number
    if (at < from || at >= to) continue
    const cell = (Math.floor((at - WINDOW.fromMs) / DAY_MS) * ids.length + (campaigns[row] as number)) * 9
    cells[cell] = (cells[cell] as number) + (a[row] as number)
    cells[cell + 1] = (cells[cell + 1] as number) + (b[row] as number)
    cells[cell + 2] = (cells[cell + 2] as number) + (c[row] as number)
    cells[cell + 3] = (cells[cell + 3] as number) + (d[row] as number)
    cells[cell + 4] = (cells[cell + 4] as number) + (e[row] as number)
    cells[cell + 5] = (cells[cell + 5] as number) + (f[row] as number)
    cells[cell + 6] = (cells[cell + 6] as number) + (g[row] as number)
    cells[cell + 7] = (cells[cell + 7] as number) + (h[row] as number)
    cells[cell + 8] = (cells[cell + 8] as number) + (i[row] as number)
  }
  return cells
}

const perRun = async (times: number, work: () => unknown) => {
  const seconds = await secondsOf(async () => {
    for (let n = 0; n < times; n++) await work()
  })
  return (seconds / times) * 1_000
}

/** A plan with reports as of an instant: the store has no workspaces. */
const withPlan = (store: ReadStore): ReadStore => ({
  ...store,
  getMany: async (_collection, ids) => ids.map((id) => ({ id, position: 0, doc: { planId: 'scale' } })),
})

async function report(views: ReadStore, query: Readonly<Record<string, string>>) {
  const { fromMs, toMs } = WINDOW
  const window = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), tz: 'UTC' }
  const answer = await callsReport.run(queryPorts(views), {
    params: {},
    query: callsReport.query.parse({ ...window, groupBy: 'day,campaign', ...query }),
    tenant: { workspaceId: WORKSPACE, timezone: 'UTC' },
    surface: 'rest',
    now: new Date(toMs + 30 * DAY_MS).toISOString(),
  })
  if (isRefusal(answer)) throw new Error(`The report was refused: ${answer.refused}.`)
  return answer
}

/** Reports by day and campaign over 366 days: beside one pass over typed arrays, as of an instant, and cold. */
export function reports(calls: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const views = join(directory, 'views.db')
    await storeBooks(views, calls)
    const store = await openSqliteReadStore(views)
    const open = () =>
      withPlan(
        withColumns(store, {
          specs: [bookColumns],
          files: openLocalFiles(join(directory, 'columns')),
          clock,
          random,
          // Nothing is written meanwhile.
          changesOf: () => 1,
        }),
      )
    const warm = open()
    const arrays = arraysOf(calls)
    const { totals } = await report(warm, {})
    const sums = sumOnePass(arrays, WINDOW.fromMs, WINDOW.toMs)
    const revenue = sums.reduce((sum, value, at) => sum + (at % 9 === 5 ? value : 0), 0)
    if (totals.calls !== calls || totals.revenueCents !== revenue) throw new Error('The sums differ.')
    const plain = () => perRun(TIMES, () => report(warm, {}))
    // The middle of a month: the rows of that month are read one by one.
    const asOf = new Date(Date.UTC(2025, 10, 15)).toISOString()
    const late = new Date(WINDOW.toMs + 2 * DAY_MS).toISOString()
    const name = (what: string) =>
      `report by day and campaign, ${calls.toLocaleString('en-US')} calls of 366 days${what}`
    const pass = () => perRun(TIMES, () => sumOnePass(arrays, WINDOW.fromMs, WINDOW.toMs))
    const figures = [
      figureOf(name(''), 'ms', { atMost: 3 }, await alternate(plain, pass)),
      figureOf(
        name(', as of six weeks before the end'),
        'ms',
        { atMost: 2 },
        await alternate(() => perRun(TIMES, () => report(warm, { asOf })), plain),
      ),
      figureOf(
        name(', as of an instant before the last corrections'),
        'ms',
        { atMost: 2 },
        await alternate(() => perRun(TIMES, () => report(warm, { asOf: late })), plain),
      ),
      figureOf(name(', cold'), 'ms', { atMost: 3 }, await alternate(() => perRun(1, () => report(open(), {})), plain)),
    ]
    await store.close()
    return figures
  })
}
