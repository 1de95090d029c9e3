import { openLogger } from '../../src/adapters/http/logger.ts'
import { call } from '../../src/domain/calls/call.ts'
import { sleep } from '../../src/kernel/async/sleep.ts'
import { type App, openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { projections } from '../../src/main/registry.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import { createBenchWorkspace, createCallPlayer } from './engine.ts'
import { type Figure, figureOf, type Pair, percentile, secondsOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const PAIRS = 5
const AT_ONCE = 64
/** Calls by which the full load is measured, and seconds of half of it. */
const CALLS = 600
const SECONDS = 6
/** Time between two looks at the log's head, and at the positions (ms). */
const HEAD_MS = 20
const LOOK_MS = 2
const LIMIT_MS = 1_000

const { signal } = new AbortController()
/** The projections of calls. */
const names = projections
  .filter(({ events }) => Object.keys(call.events).some((type) => type in events))
  .map(({ name }) => name)

/** Plays `CALLS` calls with `AT_ONCE` concurrent clients. Resolves to the rate (calls/s). */
async function fullLoad(play: () => Promise<void>): Promise<number> {
  let left = CALLS
  const client = async () => {
    while (left-- > 0) await play()
  }
  return CALLS / (await secondsOf(() => Promise.all(Array.from({ length: AT_ONCE }, client))))
}

/** Plays calls at a steady rate (calls per second) for a while. They do not wait for each other. */
async function steadyLoad(play: () => Promise<void>, rate: number): Promise<void> {
  const begun = performance.now()
  const playing: Promise<void>[] = []
  for (let elapsed = 0; elapsed < SECONDS * 1_000; elapsed = performance.now() - begun) {
    while (playing.length < (elapsed / 1_000) * rate) playing.push(play())
    await sleep(clock, LOOK_MS, signal)
  }
  await Promise.all(playing)
}

/** The time (ms) from a look at the log's head until every projection of calls has folded it, again and again until the work is done. */
async function lagsDuring({ log, readSide: { positions } }: App, work: Promise<unknown>): Promise<readonly number[]> {
  const lags: number[] = []
  let isOver = false
  const done = work.finally(() => {
    isOver = true
  })
  let waiting: { readonly head: number; readonly since: number }[] = []
  for (let lookAt = 0; !isOver || waiting.length > 0; ) {
    const now = performance.now()
    if (!isOver && now >= lookAt) {
      waiting.push({ head: await log.head(), since: now })
      lookAt = now + HEAD_MS
    }
    const folded = positions.lowestOf(names) ?? 0
    lags.push(...waiting.filter(({ head }) => head <= folded).map(({ since }) => performance.now() - since))
    waiting = waiting.filter(({ head }) => head > folded)
    await sleep(clock, LOOK_MS, signal)
  }
  await done
  return lags
}

/**
 * How far the projections of calls are behind the log while instant calls are played at half of the rate that the platform reaches,
 * in one process with all roles; nobody waits for a projection meanwhile.
 */
export function projectionLag(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const env = { PORT: '0', DATA_DIR: directory, LOG_LEVEL: 'silent', SANDBOX_SEED: '0' }
    const app = await openApp(readConfig(env), openLogger({ level: 'silent' }))
    if (!app.simulator) throw new Error('The platform has no simulated carrier.')
    const { workspaceId, dial } = await createBenchWorkspace(app, [])
    const play = createCallPlayer({ writer: app.writer, simulator: app.simulator }, workspaceId, dial)
    const pairs: Pair[] = []
    let rate = await fullLoad(play)
    for (let n = 0; n < PAIRS; n++) {
      rate = await fullLoad(play)
      const lags = await lagsDuring(app, steadyLoad(play, rate / 2))
      pairs.push({ ours: percentile(lags, 0.99), ceiling: LIMIT_MS })
    }
    await app.close()
    return [figureOf(`projection lag at half load (${Math.round(rate / 2)} calls/s), p99`, 'ms', { atMost: 1 }, pairs)]
  })
}
