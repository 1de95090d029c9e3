import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../../src/domain/routing/random.ts'
import { waitUntil } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { faultsOf, judge, type Verdict } from '../support/faults/judge.ts'
import { type Load, startLoad } from '../support/faults/load.ts'
import { createPlatformProcess, type PlatformProcess } from '../support/faults/platform-process.ts'
import { buildFaultWorld } from '../support/faults/world.ts'

const CLIENTS = 8
/** How long (ms) a process lives: often it does not even answer, sometimes it recovers completely. */
const SHORTEST_MS = 50
const USUAL_MS = 1_500
const LONG_MS = 12_000

/** Numbers of shards under which the process is started, in turn. */
const SHARDS = ['1', '4', '2']

/** The result of a run. */
export interface KillReport extends Verdict {
  readonly kills: number
  /** Exit code of the graceful stop at the end. */
  readonly exitCode: number | null
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

async function killing(
  running: PlatformProcess,
  { acknowledged }: Load,
  { kills, settleMs, tell }: KillOptions,
  chance: () => number,
): Promise<void> {
  const untilAcknowledged = (before: number) =>
    waitUntil('Calls are acknowledged', async () => acknowledged.size > before, settleMs)
  for (let kill = 1; kill <= kills; kill += 1) {
    const before = acknowledged.size
    running.start({ SHARDS: SHARDS[kill % SHARDS.length] ?? '1' })
    const early = chance() < 0.2
    if (!early) await running.waitUntilAnswering()
    // On a slow machine too, some are killed in the midst of calls.
    if (!early && kill % 2 === 0) await untilAcknowledged(before)
    await pause(SHORTEST_MS + chance() * (kill % 10 === 0 ? LONG_MS : USUAL_MS))
    await running.kill()
    tell?.(`kill ${kill} of ${kills}${early ? ', before it answered' : ''}`)
  }
  running.start()
  await running.waitUntilAnswering()
  await untilAcknowledged(kills)
}

/**
 * Kills the platform repeatedly under load, lets it recover, and judges its log, its call list, and its read models
 * against a rebuild.
 */
export async function runKills(options: KillOptions): Promise<KillReport> {
  const { kills, seed, tell } = options
  const chance = createRandom(seed)
  const environment = await createFaultEnvironment()
  const { env, remove } = environment
  const world = await createWorldIn(env, buildFaultWorld)
  const running = createPlatformProcess(env)
  const load = startLoad(world, CLIENTS, () => running.baseUrl, chance)
  let exitCode: number | null = null
  const stop = async () => {
    exitCode = await running.stop()
  }
  try {
    await killing(running, load, options, chance).finally(() => load.stop())
    tell?.(`${load.acknowledged.size} calls and ${load.written.size} acts on them acknowledged`)
    const verdict = await judge(environment, { ...options, world, load, readUrl: running.baseUrl, stop })
    return { ...verdict, kills, exitCode }
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
  const { unlike: _unlike, ...rest } = report
  const faults = faultsOf(report)
  console.log(JSON.stringify({ ...rest, faults }, null, 2))
  process.exitCode = faults.length === 0 && report.exitCode === 0 ? 0 : 1
}
