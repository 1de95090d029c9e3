import { bugs } from '../support/simulation/bugs.ts'
import type { Bug } from '../support/simulation/process.ts'
import { runSystem, type SimulationRun } from '../support/simulation/system.ts'
import { buildSimulatedWorld } from '../support/simulation/world.ts'

/** How to replay and trace a failing run. */
export function replayOf({ seed, violations }: SimulationRun, bug: Bug | null = null): string {
  const flag = bug ? ` --bug ${nameOf(bug)}` : ''
  return `Seed ${seed}: ${violations.join('; ')}. Replay: npx node test/simulation/system.ts --seed ${seed}${flag}`
}

function nameOf(bug: Bug): string {
  return Object.entries(bugs).find(([, one]) => one === bug)?.[0] ?? ''
}

/** Runs seeds in turn until `stop` returns true. */
export async function runSeeds(
  seeds: { readonly from: number; readonly count: number },
  bug: Bug | null,
  stop: (run: SimulationRun) => boolean,
): Promise<void> {
  const world = await buildSimulatedWorld()
  for (let seed = seeds.from; seed < seeds.from + seeds.count; seed += 1) {
    if (stop(await runSystem(world, { seed, bug }))) return
  }
}

/** `--seed 7` replays and traces one run; `--seeds 5000 [--from 1]` runs many; `--bug <name>` seeds a bug,
 * `--upgrade true` starts the next version beside the current one. */
async function main(options: ReadonlyMap<string, string>): Promise<number> {
  const named = options.get('bug')
  const bug: Bug | null = Object.entries<Bug>(bugs).find(([name]) => name === named)?.[1] ?? null
  if (named && !bug) throw new Error(`--bug is one of ${Object.keys(bugs).join(', ')}.`)
  const seed = options.get('seed')
  if (seed !== undefined) {
    const upgrade = options.get('upgrade') === 'true'
    const run = await runSystem(await buildSimulatedWorld(), { seed: Number(seed), bug, upgrade, trace: console.log })
    console.log(run.violations.length === 0 ? `Seed ${seed} holds. ${run.digest}` : replayOf(run, bug))
    return run.violations.length
  }
  let failures = 0
  await runSeeds({ from: Number(options.get('from') ?? 1), count: Number(options.get('seeds') ?? 500) }, bug, (run) => {
    if (run.violations.length > 0) console.log(replayOf(run, bug))
    failures += Math.min(1, run.violations.length)
    if (run.seed % 100 === 0) console.log(`Seed ${run.seed}, ${failures} failed`)
    return false
  })
  return failures
}

if (import.meta.main) {
  const flags = process.argv.slice(2)
  const pairs = flags.flatMap((flag, at) =>
    flag.startsWith('--') ? [[flag.slice(2), flags[at + 1] ?? ''] as const] : [],
  )
  process.exitCode = (await main(new Map(pairs))) > 0 ? 1 : 0
}
