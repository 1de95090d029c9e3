import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiKeys } from '../../projections/access/api-keys.ts'
import { publisherUsers } from '../../projections/access/publisher-users.ts'
import { seats } from '../../projections/access/seats.ts'
import { workspaces } from '../../projections/access/workspaces.ts'
import { activity } from '../../projections/activity/activity.ts'
import { bidLedger } from '../../projections/auctions/bid-ledger.ts'
import { pingLedger } from '../../projections/auctions/ping-ledger.ts'
import { callLog } from '../../projections/calls/call-log.ts'
import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { deliveries } from '../../projections/delivery/deliveries.ts'
import { webhooks } from '../../projections/delivery/webhooks.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { leases } from '../../projections/insertion/leases.ts'
import { walletEntries } from '../../projections/money/wallet-entries.ts'
import { blockedCallers } from '../../projections/routing/blocked-callers.ts'
import { numberOrders } from '../../projections/supply/number-orders.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { pools } from '../../projections/supply/pools.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { openMongoOperationalStore } from '../../src/adapters/mongodb/operational-store.ts'
import { openMongoReadStore } from '../../src/adapters/mongodb/read-store.ts'
import { openSqliteOperationalStore } from '../../src/adapters/sqlite/operational-store.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { requestSeries } from '../../src/domain/access/request-log.ts'
import { type AnyProjection, collectionOf } from '../../src/kernel/projection.ts'
import { queries } from '../../src/main/registry.ts'
import type { OperationalStore } from '../../src/ports/operational-store.ts'
import type { Random } from '../../src/ports/random.ts'
import type { Doc, ReadStore } from '../../src/ports/read-store.ts'
import { arbitraryOf } from '../support/fixtures/arbitrary.ts'
import { asRead } from '../support/fixtures/query-fixture.ts'
import { queryPorts } from '../support/fixtures/query-ports.ts'
import { idOf, NOW, WORKSPACE } from '../support/fixtures/spec.ts'
import { createSeededRandom } from '../support/memory/random.ts'
import { databaseOf, mongoUrl } from '../support/servers.ts'

/** A JSON value of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: rows and schemas of every list.
type Json = any

/** A list, and how documents become its rows. */
interface List {
  /** The read model of the rows; without one, they are records of a series. */
  readonly of: AnyProjection | null
  /** The read model of the record that `:id` names. */
  readonly parent?: AnyProjection
  /** Fields that every document has so that it is listed, and its row has its id. */
  readonly fields?: (id: string) => Doc
  readonly asked?: Readonly<Record<string, string>>
}

const PARENT = idOf(1)
const PUBLISHER = idOf(2)
const CAMPAIGN = idOf(3)
const publisher = { id: PUBLISHER, name: 'North' }
const person = (userId: string) => ({ userId, openUntil: '2027-01-01T00:00:00.000Z' })

const LISTS: Readonly<Record<string, List>> = {
  'get-wallet': { of: walletEntries, fields: (eventId) => ({ eventId }) },
  'list-activity': { of: activity, fields: () => ({ head: false }) },
  'list-administered-number-orders': { of: numberOrders },
  'list-administered-numbers': { of: numbers },
  'list-api-key-requests': { of: null, parent: apiKeys },
  'list-api-keys': { of: apiKeys },
  'list-blocked-callers': { of: blockedCallers },
  'list-buyers': { of: buyers },
  'list-calls': { of: callLog },
  'list-campaigns': { of: campaigns },
  'list-deliveries': { of: deliveries, parent: webhooks, fields: () => ({ webhookId: PARENT }) },
  'list-leases': { of: leases, parent: pools, fields: () => ({ poolId: PARENT }) },
  'list-number-orders': { of: numberOrders },
  'list-numbers': { of: numbers },
  'list-pings': { of: pingLedger },
  'list-pings of bidders': { of: bidLedger, asked: { direction: 'outbound' } },
  'list-pools': { of: pools },
  'list-portal-calls': { of: callLog, fields: () => ({ publisher }) },
  'list-portal-numbers': { of: numbers, fields: () => ({ publisherId: PUBLISHER }) },
  'list-portal-payouts': { of: callLog, fields: () => ({ publisher }) },
  'list-portal-pings': { of: pingLedger, fields: () => ({ publisher }) },
  'list-publisher-users': {
    of: publisherUsers,
    parent: publishers,
    fields: (id) => ({ ...person(id), publisherId: PARENT }),
  },
  'list-publishers': { of: publishers },
  'list-targets': { of: targets, fields: () => ({ rtb: null }) },
  'list-users': { of: seats, fields: person },
  'list-webhooks': { of: webhooks },
  'list-workspaces': { of: workspaces, fields: (workspaceId) => ({ workspaceId }) },
}

const HOUR_MS = 3_600_000
const ages = [1, 25, 49]
const instantsMs = ages.map((hours) => Date.parse(NOW) - hours * HOUR_MS)
const instants = instantsMs.map((ms) => new Date(ms).toISOString())
const names = ['a', 'B', 'b', 'Zoë', '日本']
const amounts = [0, 1, 60, 300]

/** Few values for what lists are sorted and grouped by, so that rows tie. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  createdAt: instants,
  updatedAt: instants,
  takenAt: instants,
  at: instants,
  purchasedAt: [null, ...instants],
  releaseRequestedAt: [null, ...instants],
  startedMs: instantsMs,
  atMs: instantsMs,
  createdMs: instantsMs,
  name: names,
  email: names,
  e164: ['+12125550100', '+12125550101', '+13105550100'],
  talkSeconds: amounts,
  payoutCents: amounts,
  revenueCents: amounts,
  seq: amounts,
  order: amounts,
  revision: amounts,
  campaign: [null, { id: CAMPAIGN, name: 'a' }, { id: PARENT, name: 'b' }],
}
/** What changes of a row leave as it is, beside `VALUES`: other sorts, and what filters leave out. */
const KEPT = ['status', 'role']

/** The queries that answer pages, and where in their answers the page is. */
const paged = queries.flatMap((query) => {
  const { shape } = query.response as Json
  return shape?.entries?.shape?.totalPages || shape?.totalPages ? [query] : []
})
const pageIn = (answer: Json) => answer.entries ?? answer
const queryOf = (list: string) => paged.find(({ name }) => name === list.split(' ')[0]) as (typeof paged)[number]

/** The orders that a query can ask for. */
function ordersOf(list: string): readonly Readonly<Record<string, string>>[] {
  const { sort, dir } = (queryOf(list).query as Json).shape
  const sorts: readonly string[] = sort?.meta().enum ?? ['']
  return sorts.flatMap((name) => (dir ? ['asc', 'desc'] : ['desc']).map((way) => ({ sort: name, dir: way })))
}

test('every paged list is tested, and has a cursor of its own', () => {
  expect([...new Set(Object.keys(LISTS).map((list) => list.split(' ')[0]))].sort()).toEqual(
    paged.map(({ name }) => name).sort(),
  )
  const cursorOf = (query: (typeof paged)[number]) => (query.query as Json).shape.cursor
  expect(new Set(paged.map((query) => cursorOf(query).parse(undefined).list)).size).toBe(paged.length)
})

/** A store with rows of one list. */
interface Rows {
  readonly read: (asked: object) => Promise<Json>
  /** Adds rows, or removes or changes some. */
  readonly add: (count: number) => Promise<void>
  readonly remove: () => Promise<void>
  readonly change: () => Promise<void>
  readonly clear: () => Promise<void>
}

interface Stores {
  readonly views: ReadStore
  readonly ops: OperationalStore
}

/** Later than every instant of a test. */
const NEVER = 4_000_000_000_000

let written = 0

async function rowsOf({ views, ops }: Stores, list: string, { seed: pick, uuid }: Random): Promise<Rows> {
  const { of, parent, fields = () => ({}), asked = {} } = LISTS[list] as List
  const query = queryOf(list)
  const read = [...query.reads, workspaces, campaigns]
  await views.ensure(read.map((projection) => ({ ...projection, name: collectionOf(projection) })))
  const held = new Map<string, Doc>()
  const others: (readonly [AnyProjection, string])[] = []
  const one = <Value>(values: readonly Value[]): Value => values[pick() % values.length] as Value
  const sample = (projection: AnyProjection) => {
    const [made] = fc.sample(arbitraryOf(projection.doc), { numRuns: 1, seed: pick() })
    return { ...(made as Doc), workspaceId: WORKSPACE }
  }
  const docOf = (id: string): Doc => {
    const made = sample(of as AnyProjection)
    const few = Object.entries(VALUES).filter(([field]) => field in made)
    return { ...made, ...Object.fromEntries(few.map(([field, values]) => [field, one(values)])), ...fields(id) }
  }
  const write = async (projection: AnyProjection, id: string, doc: Doc | null) => {
    written += 1
    const at = { collection: collectionOf(projection), id, position: written }
    await views.commit([doc ? { ...at, doc } : { ...at, doc, workspaceId: WORKSPACE, expiresAt: NEVER }], {
      name: `writes-${written}`,
      expected: null,
      next: { position: written, at: null },
    })
  }
  const writeOther = async (projection: AnyProjection, id: string, more: Doc = {}) => {
    others.push([projection, id])
    await write(projection, id, { ...sample(projection), ...more })
  }
  if (parent) await writeOther(parent, PARENT)
  if (list === 'list-portal-payouts') await writeOther(campaigns, CAMPAIGN, { name: 'Roofing' })
  if (list === 'list-activity') await writeOther(activity, WORKSPACE, { head: true, seq: 1_000 })
  const ports = { ...queryPorts(views), ops }
  return {
    async read(sent) {
      const answer = await query.run(ports, {
        params: query.params.parse({ id: PARENT }),
        query: query.query.parse({ ...asked, ...sent }),
        tenant: { workspaceId: WORKSPACE, timezone: 'UTC', publisherId: PUBLISHER },
        surface: 'console',
        now: NOW,
      })
      return pageIn(asRead<Json>(answer))
    },
    async add(count) {
      for (let n = 0; n < count; n++) {
        const id = uuid()
        if (of) {
          held.set(id, docOf(id))
          await write(of, id, held.get(id) ?? null)
        } else {
          const value = { method: 'GET', path: '/', query: null, status: 200, ms: 1, ip: '', userAgent: null }
          const record = { id, at: one(instantsMs), labels: ['GET'], value: { ...value, errorCode: null } }
          await ops.appendLog([{ series: requestSeries(PARENT), ...record, expiresAt: NEVER }])
        }
      }
    },
    async remove() {
      if (!of || held.size === 0) return
      const id = one([...held.keys()])
      held.delete(id)
      await write(of, id, null)
    },
    async change() {
      if (!of || held.size === 0) return
      const [id, before] = one([...held])
      const kept = Object.keys(before).filter((field) => field in VALUES || KEPT.includes(field))
      const doc = { ...docOf(id), ...Object.fromEntries(kept.map((field) => [field, before[field]])) }
      held.set(id, doc)
      await write(of, id, doc)
    },
    async clear() {
      for (const id of held.keys()) await write(of as AnyProjection, id, null)
      for (const [projection, id] of others) await write(projection, id, null)
    },
  }
}

/** What names a row, whatever else of it changes. */
const keyOf = ({ id, sessionId, date, campaign }: Json): string => id ?? sessionId ?? `${date} ${campaign?.id}`

/** Reads a list on by cursor while its rows are added, changed and removed. */
async function readWhileWritten(rows: Rows, order: object, { seed: pick }: Random) {
  const whole = async () => (await rows.read({ ...order, pageSize: '200' })).data.map(keyOf) as string[]
  let stood = await whole()
  const shown: string[] = []
  for (let cursor: string | undefined, page = 1; ; page++) {
    const answer = await rows.read(cursor ? { cursor, pageSize: '2' } : { ...order, pageSize: '2' })
    expect(answer.page).toBe(page)
    shown.push(...answer.data.map(keyOf))
    if (answer.nextCursor === null) break
    expect(answer.data).toHaveLength(2)
    cursor = answer.nextCursor
    await [() => rows.add(1), rows.remove, rows.change][pick() % 3]?.()
    const after = await whole()
    stood = after.filter((key) => stood.includes(key))
  }
  return { shown, stood }
}

function listsOn(name: string, open: () => Promise<Stores & { readonly clean: () => Promise<void> }>) {
  describe(`lists by cursor on ${name}`, () => {
    let stores: Awaited<ReturnType<typeof open>>
    beforeAll(async () => {
      stores = await open()
    })
    afterAll(async () => {
      await stores.views.close()
      await stores.ops.close()
      await stores.clean()
    })

    test.each(Object.keys(LISTS))('%s shows each row that stands once, in every order', async (list) => {
      const random = createSeededRandom()
      const rows = await rowsOf(stores, list, random)
      await rows.add(16)
      for (const order of ordersOf(list)) {
        const { data } = await rows.read({ ...order, pageSize: '200' })
        expect(data.length, `rows of ${list}`).toBeGreaterThan(4)
        const { shown, stood } = await readWhileWritten(rows, order, random)
        expect(shown, JSON.stringify(order)).toEqual([...new Set(shown)])
        expect(
          shown.filter((key) => stood.includes(key)),
          JSON.stringify(order),
        ).toEqual(stood)
        await rows.add(4)
      }
      await rows.clear()
    })
  })
}

listsOn('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-lists-'))
  const path = join(folder, 'views.db')
  const [views, ops] = [await openSqliteReadStore(path), await openSqliteOperationalStore(path)]
  return { views, ops, clean: () => rm(folder, { recursive: true }) }
})

const url = mongoUrl()
if (url) {
  const database = databaseOf(url, `lists-${randomUUID()}`)
  listsOn('MongoDB', async () => {
    const [views, ops] = [await openMongoReadStore(database), await openMongoOperationalStore(database)]
    return { views, ops, clean: async () => {} }
  })
}
