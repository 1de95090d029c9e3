import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { durableAppend } from '../test/bench/append.ts'
import { auctionLoad } from '../test/bench/auction-load.ts'
import { auctions } from '../test/bench/auctions.ts'
import { busyWorkspace } from '../test/bench/busy-workspace.ts'
import { callList } from '../test/bench/call-list.ts'
import { callStats } from '../test/bench/call-stats.ts'
import { columnsOf } from '../test/bench/columns.ts'
import { configuration } from '../test/bench/configuration.ts'
import { decision } from '../test/bench/decision.ts'
import { deliveries } from '../test/bench/deliveries.ts'
import { instantCallsOnEventStore } from '../test/bench/engine-eventstore.ts'
import { callsExport } from '../test/bench/export.ts'
import { following } from '../test/bench/follow.ts'
import { instantCalls } from '../test/bench/instant-calls.ts'
import { projectionLag } from '../test/bench/lag.ts'
import type { Figure } from '../test/bench/measure.ts'
import { overview } from '../test/bench/overview.ts'
import { pingLedgerFigures } from '../test/bench/ping-ledger.ts'
import { pools } from '../test/bench/pools.ts'
import { rebuildOnMongo } from '../test/bench/rebuild-mongodb.ts'
import { rebuildWrites, rebuildWritesOnServers } from '../test/bench/rebuild-writes.ts'
import { replay } from '../test/bench/replay.ts'
import { replayFromEventStore } from '../test/bench/replay-eventstore.ts'
import { reports } from '../test/bench/reports.ts'
import { snapshots } from '../test/bench/snapshots.ts'
import { stops } from '../test/bench/stop.ts'
import { tableOf } from '../test/bench/table.ts'
import { takeOver } from '../test/bench/take-over.ts'
import { writersOnEventStore } from '../test/bench/writers.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Events of the longest log to replay. */
    events: { type: 'string', default: '1000000' },
    /** Events of the log that is rebuilt from EventStoreDB into MongoDB. */
    rebuilt: { type: 'string', default: '100000' },
    /** Calls to list and to export. */
    calls: { type: 'string', default: '100000' },
    /** Pings of a day, to list and to sum up. */
    pings: { type: 'string', default: '1000000' },
    /** Past calls of a new workspace and of an old one. */
    past: { type: 'string', default: '10000,1000000' },
    /** Simulated hours of a busy ledger, and its calls per second. */
    hours: { type: 'string', default: '2' },
    rate: { type: 'string', default: '50' },
    /** Numbers of calls over which to sum the list's figures. */
    stats: { type: 'string', default: '100000,1000000' },
    /** Calls of a year, to report on. */
    reported: { type: 'string', default: '1000000' },
    /** Workspaces of a query process, and the rows of each; the figures are meant for 20,1000000. */
    columns: { type: 'string', default: '4,100000' },
  },
})

/** Benchmarks over a running EventStoreDB, which EVENTSTORE_URL names. */
const onEventStore: Readonly<Record<string, (url: string) => Promise<readonly Figure[]>>> = {
  'engine-eventstore': instantCallsOnEventStore,
  follow: following,
  writers: writersOnEventStore,
  'replay-eventstore': (url) => replayFromEventStore(url, Number(values.rebuilt)),
}
/** Benchmarks over a running MongoDB too, which MONGODB_URL names. */
const onServers: Readonly<Record<string, (eventStoreUrl: string, mongoUrl: string) => Promise<readonly Figure[]>>> = {
  'take-over': takeOver,
  'rebuild-writes-servers': (eventStore, mongo) => rebuildWritesOnServers(eventStore, mongo, Number(values.rebuilt)),
  'rebuild-mongodb': (eventStore, mongo) => rebuildOnMongo(eventStore, mongo, Number(values.rebuilt)),
}
const { EVENTSTORE_URL: eventStoreUrl, MONGODB_URL: mongoUrl } = process.env

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  append: durableAppend,
  decision,
  busy: () => {
    const [few = 0, many = 0] = values.past.split(',').map(Number)
    return busyWorkspace(few, many)
  },
  snapshots: () => snapshots(Number(values.hours), Number(values.rate)),
  engine: instantCalls,
  lag: projectionLag,
  auctions,
  'auction-load': auctionLoad,
  deliveries,
  pools,
  pings: () => pingLedgerFigures(Number(values.pings)),
  configuration,
  list: () => callList(Number(values.calls)),
  overview: () => overview(Number(values.calls)),
  export: () => callsExport(Number(values.calls)),
  stats: () => callStats(values.stats.split(',').map(Number)),
  reports: () => reports(Number(values.reported)),
  columns: () => {
    const [workspaces = 0, rows = 0] = values.columns.split(',').map(Number)
    return columnsOf(workspaces, rows)
  },
  replay: () => replay(Number(values.events)),
  stop: stops,
  'rebuild-writes': () => rebuildWrites(Number(values.events)),
  ...Object.fromEntries(
    Object.entries(eventStoreUrl ? onEventStore : {}).map(([name, bench]) => [name, () => bench(eventStoreUrl ?? '')]),
  ),
  ...Object.fromEntries(
    Object.entries(eventStoreUrl && mongoUrl ? onServers : {}).map(([name, bench]) => [
      name,
      () => bench(eventStoreUrl ?? '', mongoUrl ?? ''),
    ]),
  ),
}

if (!eventStoreUrl)
  process.stderr.write(`Without EVENTSTORE_URL these are left out: ${Object.keys(onEventStore).join(', ')}.\n`)
if (!eventStoreUrl || !mongoUrl)
  process.stderr.write(
    `Without EVENTSTORE_URL and MONGODB_URL these are left out: ${Object.keys(onServers).join(', ')}.\n`,
  )
const unknown = positionals.find((name) => !(name in benches))
if (unknown !== undefined) {
  process.stderr.write(`Unknown benchmark "${unknown}". Benchmarks: ${Object.keys(benches).join(', ')}.\n`)
  process.exit(1)
}

/** Measures a benchmark in a child process, so that benchmarks do not affect each other. */
async function measureInProcess(name: string): Promise<readonly Figure[]> {
  const sizes = process.argv.slice(2).filter((argument) => !positionals.includes(argument))
  const child = fork(import.meta.filename, [name, ...sizes])
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The benchmark "${name}" exited with code ${code} before it reported figures.`)
  })
  const [figures] = await Promise.race([once(child, 'message'), ended])
  return figures
}

const selected = Object.entries(benches).filter(([name]) => positionals.length === 0 || positionals.includes(name))
const figures: Figure[] = []
for (const [name, bench] of selected) {
  if (!process.send) process.stderr.write(`${name}…\n`)
  figures.push(...(await (selected.length === 1 ? bench() : measureInProcess(name))))
}
if (process.send) process.send(figures)
else process.stdout.write(`${tableOf(figures)}\n`)
