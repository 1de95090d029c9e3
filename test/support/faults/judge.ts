import { join } from 'node:path'
import { parseStreamName } from '../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { openLog, openReadStore } from '../../../src/main/stores.ts'
import { createApiClient } from '../e2e/api-client.ts'
import { waitUntil } from '../e2e/server.ts'
import { ledgerMoneyViolations, usageViolations } from '../oracle/money.ts'
import { type Audit, audit, eventsOf } from '../oracle/oracle.ts'
import { partitionViolations } from '../oracle/partitions.ts'
import type { FaultEnvironment } from './environment.ts'
import { auditUntilDone } from './last-audit.ts'
import type { Load } from './load.ts'
import { catchUp, differences, readModelHashes } from './read-models.ts'
import type { FaultWorld } from './world.ts'

const PAGE = 100
/** Longest time (ms) until a process answers queries. */
const LISTED_MS = 60_000

/** What a run under faults has left behind. */
export interface Verdict extends Audit {
  readonly acknowledged: number
  /** Number of acknowledged actions on calls. */
  readonly written: number
  /** Answers that the platform must never give. */
  readonly strange: readonly string[]
  /** Acknowledged calls that are missing in the call list. */
  readonly unread: readonly string[]
  /** Read models that differ from their rebuild, a sentence each. */
  readonly unlike: readonly string[]
}

/** Ids of all calls in the call list. */
async function listedCalls(baseUrl: string, { tenant }: FaultWorld): Promise<ReadonlySet<string>> {
  const ask = createApiClient(() => baseUrl, tenant.session)
  const ids = new Set<string>()
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    // A process that has just started again may not answer yet.
    const { body } = await waitUntil(
      'The calls are listed',
      async () => {
        const answer = await ask(`/api/tracking/calls?page=${page}&pageSize=${PAGE}`)
        return answer.status === 200 && answer
      },
      LISTED_MS,
    )
    for (const { id } of body.data) ids.add(id)
    pages = body.totalPages
  }
  return ids
}

/** Acknowledged actions that are missing in the log. */
function forgotten(events: readonly RecordedEvent[], written: ReadonlySet<string>): readonly string[] {
  const stored = new Set(events.map(({ type, stream }) => `${type} of ${parseStreamName(stream).id}`))
  return [...written].filter((act) => !stored.has(act)).map((act) => `${act} was acknowledged and is lost`)
}

/** Hashes of the read models of some stores, each brought up to the log's head. */
async function modelsOf(eventLogUrl: string, ...urls: readonly string[]) {
  const log = await openLog(eventLogUrl)
  const hashed = await Promise.all(
    urls.map(async (url) => {
      const store = await openReadStore(url)
      await catchUp(log, store)
      return readModelHashes(store).finally(() => store.close())
    }),
  )
  await log.close()
  return hashed
}

/**
 * Lets a platform that nothing disturbs any more finish its work, stops it, and judges its log, its call list, and its read
 * models against a rebuild.
 */
export async function judge(
  { dataDir, eventLogUrl, readStoreUrl }: FaultEnvironment,
  {
    world,
    load,
    readUrl,
    settleMs,
    untilCharged,
    stop,
  }: {
    readonly world: FaultWorld
    readonly load: Load
    /** Base URL of a process that answers queries. */
    readonly readUrl: string
    /** Time (ms) to recover. */
    readonly settleMs: number
    /** Whether to wait for usage that falls due later. */
    readonly untilCharged: boolean
    readonly stop: () => Promise<void>
  },
): Promise<Verdict> {
  const { acknowledged, written, strange } = load
  const log = await openLog(eventLogUrl)
  const { workspaceId } = world.tenant
  const dueBy = untilCharged ? () => Number.POSITIVE_INFINITY : Date.now
  const { dueMs } = await auditUntilDone(log, workspaceId, acknowledged, settleMs, dueBy)
  const listed = await listedCalls(readUrl, world)
  await stop()
  const events = await eventsOf(log, workspaceId)
  const judged = audit(events, acknowledged, dueMs)
  await log.close()
  const violations = [
    ...judged.violations,
    ...forgotten(events, written),
    ...partitionViolations(events),
    ...ledgerMoneyViolations(events),
    ...(untilCharged ? usageViolations(events) : []),
  ]
  const [models = {}, rebuilt = {}] = await modelsOf(eventLogUrl, readStoreUrl, `sqlite:${join(dataDir, 'rebuilt.db')}`)
  const unread = [...acknowledged].filter((callId) => !listed.has(callId))
  return {
    ...judged,
    violations,
    acknowledged: acknowledged.size,
    written: written.size,
    strange,
    unread,
    unlike: differences(models, rebuilt),
  }
}

/** A sentence for everything that a verdict holds against a platform: empty when all is well. */
export function faultsOf({ violations, open, strange, unread, unlike }: Verdict): readonly string[] {
  return [...violations, ...open, ...strange, ...unread.map((callId) => `${callId} is not listed`), ...unlike]
}
