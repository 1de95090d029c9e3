import { freshEnvironment, type StoreSetup, startServer, storeSetups } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { stopUnderLoad } from '../support/faults/stop-under-load.ts'
import { buildTrafficWorld } from '../support/faults/traffic-world.ts'
import { type Figure, figureOf } from './measure.ts'

const STOPS = 5
const MUST_SECONDS = 5

/** Seconds that each stop takes. @throws Error where a stop drops a request or ends with another code than 0 */
async function stopSeconds(setup: StoreSetup): Promise<readonly number[]> {
  const env = { ...freshEnvironment(setup), TRUST_PROXY: 'true' }
  const world = await createWorldIn(env, buildTrafficWorld)
  const server = await startServer(env)
  const seconds: number[] = []
  try {
    for (let n = 0; n < STOPS; n += 1) {
      if (n > 0) await server.restart()
      const { ms, result, traffic } = await stopUnderLoad(server, world)
      const [fault] = traffic.faults
      if (fault !== undefined || result.code !== 0) throw new Error(fault ?? `The stop ended with ${result.code}.`)
      seconds.push(ms / 1_000)
    }
  } finally {
    await server.dispose()
  }
  return seconds
}

/**
 * A stop by SIGTERM while 18 clients send all kinds of requests, from the signal to the end of the process, over each set of stores
 * that is there. The ceiling is what is allowed.
 */
export async function stops(): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const setup of storeSetups) {
    const pairs = (await stopSeconds(setup)).map((ours) => ({ ours, ceiling: MUST_SECONDS }))
    figures.push(figureOf(`stop under load over ${setup.name}`, 's', { atMost: 1 }, pairs))
  }
  return figures
}
