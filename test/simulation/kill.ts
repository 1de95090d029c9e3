import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../../src/domain/routing/random.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { openLog, openReadStore } from '../../src/main/stores.ts'
import { createApiClient } from '../support/e2e/api-client.ts'
import { waitUntil } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { startLoad } from '../support/faults/load.ts'
import { createPlatformProcess, type PlatformProcess } from '../support/faults/platform-process.ts'
import { catchUp, readModelHashes } from '../support/faults/read-models.ts'
import { buildFaultWorld, type FaultWorld } from '../support/faults/world.ts'
import { ledgerMoneyViolations, usageViolations } from '../support/oracle/money.ts'
import { type Audit, audit, eventsOf } from '../support/oracle/oracle.ts'

const CLIENTS = 8
/** How long (ms) a process lives: often it does not even answer, sometimes it recovers completely. */
const SHORTEST_MS = 50
const USUAL_MS = 1_500
const LONG_MS = 12_000
const PAGE = 100

/** The result of a run. */
export interface KillReport extends Audit {
  readonly kills: number
  readonly acknowledged: number
  /** Number of acknowledged actions on calls. */
  readonly written: number
  readonly strange: readonly string[]
  /** Acknowledged calls that are missing in the call list. */
  readonly unread: readonly string[]
  /** Exit code of the graceful stop at the end. */
  readonly exitCode: number | null
  readonly models: Readonly<Record<string, string>>
  readonly rebuilt: Readonly<Record<string, string>>
}

/** Ids of all calls in the call list. */
async function listedCalls(baseUrl: string, { tenant }: FaultWorld): Promise<ReadonlySet<string>> {
  const ask = createApiClient(() => baseUrl, tenant.session)
  const ids = new Set<string>()
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { body } = await ask(`/api/tracking/calls?page=${page}&pageSize=${PAGE}`)
    for (const { id } of body.data) ids.add(id)
    pages = body.totalPages
  }
  return ids
}

/** Acknowledged actions that are missing in the log. */
function forgotten(events: readonly RecordedEvent[], written: ReadonlySet<string>): readonly string[] {
  const stored = new Set(events.map(({ type, stream }) => `${type} ${stream}`))
  return [...written].filter((act) => !stored.has(act)).map((act) => `${act} was acknowledged and is lost`)
}

interface KillOptions {
  readonly kills: number
  /** Time (ms) to recover after the last kill. */
  readonly settleMs: number
  /** Whether to wait for usage that falls due later. */
  readonly untilCharged: boolean
  readonly seed: number
  readonly tell?: (sentence: string) => void
}

/** Hashes of the read models, and of their rebuild. */
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

async function killing(running: PlatformProcess, { kills, tell }: KillOptions, chance: () => number): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    running.start()
    const early = chance() < 0.2
    if (!early) await running.waitUntilAnswering()
    await pause(SHORTEST_MS + chance() * (kill % 10 === 0 ? LONG_MS : USUAL_MS))
    await running.kill()
    tell?.(`kill ${kill} of ${kills}${early ? ', before it answered' : ''}`)
  }
  running.start()
  await running.waitUntilAnswering()
}

/**
 * Kills the platform repeatedly under load, lets it recover, and judges its log, its call list, and its read models
 * against a rebuild.
 */
export async function runKills(options: KillOptions): Promise<KillReport> {
  const { kills, settleMs, untilCharged, seed, tell } = options
  const chance = createRandom(seed)
  const { env, dataDir, eventLogUrl, readStoreUrl, remove } = await createFaultEnvironment()
  const world = await createWorldIn(env, buildFaultWorld)
  const running = createPlatformProcess(env)
  const load = startLoad(world, CLIENTS, () => running.baseUrl, chance)
  try {
    await killing(running, options, chance).finally(() => load.stop())
    const { acknowledged, written, strange } = load
    tell?.(`${acknowledged.size} calls and ${written.size} acts on them acknowledged`)
    const log = await openLog(eventLogUrl)
    const judge = async () => {
      const events = await eventsOf(log, world.tenant.workspaceId)
      const judged = audit(events, acknowledged, untilCharged ? Number.POSITIVE_INFINITY : Date.now())
      return { events, ...judged }
    }
    await waitUntil('Nothing is open', async () => (await judge()).open.length === 0, settleMs).catch(() => undefined)
    const listed = await listedCalls(running.baseUrl, world)
    const exitCode = await running.stop()
    const { events, ...judged } = await judge()
    const violations = [
      ...judged.violations,
      ...forgotten(events, written),
      ...ledgerMoneyViolations(events),
      ...(untilCharged ? usageViolations(events) : []),
    ]
    await log.close()
    const [models = {}, rebuilt = {}] = await modelsOf(
      eventLogUrl,
      readStoreUrl,
      `sqlite:${join(dataDir, 'rebuilt.db')}`,
    )
    const unread = [...acknowledged].filter((callId) => !listed.has(callId))
    return {
      ...judged,
      violations,
      kills,
      acknowledged: acknowledged.size,
      written: written.size,
      strange,
      unread,
      exitCode,
      models,
      rebuilt,
    }
  } finally {
    await running.kill()
    remove()
  }
}

if (import.meta.main) {
  const report = await runKills({
    kills: Number(process.argv[2] ?? 200),
    settleMs: 240_000,
    untilCharged: true,
    seed: Number(process.argv[3] ?? 1),
    tell: (sentence) => console.log(`${new Date().toISOString()} ${sentence}`),
  })
  const { models, rebuilt, ...rest } = report
  const unlike = Object.keys(models).filter((name) => models[name] !== rebuilt[name])
  console.log(JSON.stringify({ ...rest, unlike }, null, 2))
  const { violations, open, strange, unread, exitCode } = report
  const wrong = violations.length + open.length + strange.length + unread.length + unlike.length
  process.exitCode = wrong === 0 && exitCode === 0 ? 0 : 1
}
