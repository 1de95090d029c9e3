import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { randomFrom } from '../../src/domain/routing/random.ts'
import { openLog, openViews } from '../../src/main/stores.ts'
import { asking } from '../support/e2e-client.ts'
import { until } from '../support/e2e-server.ts'
import { prepare } from '../support/e2e-world.ts'
import { type Audit, audit, eventsOf } from '../support/fault-audit.ts'
import { faultEnvironment } from '../support/fault-environment.ts'
import { beginLoad } from '../support/fault-load.ts'
import { catchUp, hashes } from '../support/fault-models.ts'
import { platform } from '../support/fault-platform.ts'
import { buildFaultWorld, type FaultWorld } from '../support/fault-world.ts'

const CLIENTS = 8
/** How long a process lives after its start (ms): often it does not even answer yet, now and then it recovers in full. */
const SHORTEST_MS = 50
const USUAL_MS = 1_500
const LONG_MS = 12_000
const PAGE = 100

/** How a run under kills went. */
export interface KillReport extends Audit {
  readonly kills: number
  readonly acknowledged: number
  readonly strange: readonly string[]
  /** Acknowledged calls that the call list does not show. */
  readonly unread: readonly string[]
  /** Exit code of the graceful stop at the end. */
  readonly exitCode: number | null
  readonly models: Readonly<Record<string, string>>
  readonly rebuilt: Readonly<Record<string, string>>
}

/** Ids of every call that the call list shows. */
async function listedCalls(baseUrl: string, { tenant }: FaultWorld): Promise<ReadonlySet<string>> {
  const ask = asking(() => baseUrl, tenant.session)
  const ids = new Set<string>()
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { body } = await ask(`/api/tracking/calls?page=${page}&pageSize=${PAGE}`)
    for (const { id } of body.data) ids.add(id)
    pages = body.totalPages
  }
  return ids
}

/**
 * Kills the platform `kills` times under a running load, then lets it recover, for `settleMs` at most, and judges what
 * is left: its log, its call list, and its read models beside those of a rebuild.
 */
export async function runKills(options: {
  readonly kills: number
  readonly settleMs: number
  readonly seed: number
  readonly tell?: (sentence: string) => void
}): Promise<KillReport> {
  const { kills, settleMs, seed, tell = () => {} } = options
  const chance = randomFrom(seed)
  const { env, dataDir, eventLogUrl, readStoreUrl, remove } = await faultEnvironment()
  const world = await prepare(env, buildFaultWorld)
  const running = platform(env)
  const load = beginLoad(world, CLIENTS, () => running.baseUrl, chance)
  for (let kill = 1; kill <= kills; kill += 1) {
    running.start()
    const early = chance() < 0.2
    if (!early) await running.answers()
    await pause(SHORTEST_MS + chance() * (kill % 10 === 0 ? LONG_MS : USUAL_MS))
    await running.kill()
    tell(`kill ${kill} of ${kills}${early ? ' (early)' : ''}: ${load.acknowledged.size} calls acknowledged`)
  }
  running.start()
  await running.answers()
  await load.stop()

  const log = await openLog(eventLogUrl)
  const judge = async () =>
    audit(await eventsOf(log, world.tenant.workspaceId), world.caps, load.acknowledged, Date.now())
  const begun = Date.now()
  await until('Nothing is open', async () => (await judge()).open.length === 0, settleMs).catch(() => undefined)
  tell(`settled after ${Date.now() - begun} ms`)
  const listed = await listedCalls(running.baseUrl, world)
  const exitCode = await running.stop()
  const judged = await judge()

  const urls = [readStoreUrl, `sqlite:${join(dataDir, 'rebuilt.db')}`]
  const stores = await Promise.all(urls.map((url) => openViews(url)))
  const [models = {}, rebuilt = {}] = await Promise.all(
    stores.map(async (store) => {
      await catchUp(log, store)
      return hashes(store).finally(() => store.close())
    }),
  )
  await log.close()
  remove()
  return {
    ...judged,
    kills,
    acknowledged: load.acknowledged.size,
    strange: load.strange,
    unread: [...load.acknowledged].filter((callId) => !listed.has(callId)),
    exitCode,
    models,
    rebuilt,
  }
}

if (import.meta.main) {
  const report = await runKills({
    kills: Number(process.argv[2] ?? 200),
    settleMs: 240_000,
    seed: Number(process.argv[3] ?? 1),
    tell: (sentence) => console.log(`${new Date().toISOString()} ${sentence}`),
  })
  const { models, rebuilt, ...rest } = report
  const unlike = Object.keys(models).filter((name) => models[name] !== rebuilt[name])
  console.log(JSON.stringify({ ...rest, unlike }, null, 2))
  const { broken, open, strange, unread, exitCode } = report
  const wrong = broken.length + open.length + strange.length + unread.length + unlike.length
  process.exitCode = wrong === 0 && exitCode === 0 ? 0 : 1
}
