import { campaigns } from '../../projections/campaigns/campaigns.ts'
import { buyers } from '../../projections/demand/buyers.ts'
import { targets } from '../../projections/demand/targets.ts'
import { numbers } from '../../projections/supply/numbers.ts'
import { listCalls } from '../../queries/calls/list-calls.ts'
import { listTargets } from '../../queries/demand/list-targets.ts'
import { getOverview } from '../../queries/reporting/get-overview.ts'
import { listNumbers } from '../../queries/supply/list-numbers.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import type { CredentialStore } from '../../src/api/credential-store.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import { systemRandom as random } from '../../src/main/system.ts'
import { buildNames } from '../../src/runtime/projections/build-names.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'
import { alternate, type Figure, figureOf, secondsOf } from './measure.ts'
import { servePages } from './page-server.ts'
import { storeCalls } from './stored-calls.ts'
import { withDirectory } from './temp-directory.ts'

/** Times that each side is asked in a pair. */
const TIMES = 50
/** Records of each kind beside the calls: more than a page of them. */
const RECORDS = 100
/** The list pages of the console beside the overview, 25 rows each. */
const LISTS = ['calls', 'numbers', 'targets'] as const

/** Adds records of a kind, copies of the first one under ids of their own. */
export async function copyRecords(path: string, projection: AnyProjection): Promise<void> {
  const store = await openSqliteReadStore(path)
  const { collection, checkpoint } = buildNames(projection)
  const name = wholeCheckpoint(checkpoint)
  const [first] = await store.find(collection, { filter: {}, limit: 1 })
  if (!first) throw new Error(`There is no record of ${projection.name} to copy.`)
  const stands = await store.checkpoint(name)
  const writes = Array.from({ length: RECORDS }, () => ({ ...first, collection, id: random.uuid() }))
  const next = { at: null, ...stands, position: (stands?.position ?? 0) + 1 }
  if (!(await store.commit(writes, { name, expected: stands?.position ?? null, next })))
    throw new Error(`The records of ${projection.name} were not stored.`)
  await store.close()
}

/** A session of an owner of the stored workspace, whatever the secret. */
function ownerOf(workspaceId: string): CredentialStore {
  return {
    credential: async () => ({
      kind: 'session',
      userId: workspaceId,
      name: 'Bench',
      email: 'bench@example.com',
      expiresAt: '9999-12-31T23:59:59.999Z',
      seats: [{ agencyId: workspaceId, role: 'owner' }],
      publishers: [],
    }),
    workspace: async () => ({
      id: workspaceId,
      name: 'Bench',
      planId: 'scale',
      subscriptionStatus: 'active',
      timezone: 'America/New_York',
      sandbox: true,
    }),
  }
}

/**
 * The overview over HTTP, beside three list pages of 25 (calls with their figures, numbers, targets): asked one after the other, and
 * all at once. No answer comes from a cache.
 */
export function overview(calls: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const stored = await storeCalls(directory)
    await stored.growTo(calls)
    for (const projection of [campaigns, buyers, targets, numbers]) await copyRecords(stored.views, projection)
    const queries = [getOverview, listCalls, listNumbers, listTargets]
    const access = { credentials: ownerOf(stored.workspaceId) }
    const pages = await servePages(directory, 'bench', access, ...queries)
    const ask = async (path: string) => {
      const answer = await fetch(`${pages.baseUrl}/api/tracking/${path}`, {
        headers: { authorization: 'Bearer sess_x' },
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.arrayBuffer()
    }
    const lists = LISTS.map((list) => `${list}?pageSize=25`)
    const per = async (work: () => Promise<unknown>) =>
      (await secondsOf(async () => {
        for (let n = 0; n < TIMES; n++) await work()
      })) *
      (1_000 / TIMES)
    const ours = () => per(() => ask('overview'))
    const inTurn = async () => {
      for (const list of lists) await ask(list)
    }
    const atOnce = () => Promise.all(lists.map(ask))
    const name = `overview over ${calls.toLocaleString('en-US')} calls beside three list pages`
    const goal = { atMost: 1 }
    const figures = [
      figureOf(`${name}, in turn`, 'ms', goal, await alternate(ours, () => per(inTurn))),
      figureOf(`${name}, at once`, 'ms', goal, await alternate(ours, () => per(atOnce))),
    ]
    await pages.close()
    return figures
  })
}
