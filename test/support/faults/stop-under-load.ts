import { type ProcessResult, type Server, waitUntil } from '../e2e/server.ts'
import { startTraffic, TRAFFIC_KINDS, type Traffic } from './traffic.ts'
import type { TrafficWorld } from './traffic-world.ts'

/** Clients of each kind. */
const CLIENTS = 3
/** Answers to each kind of client before the stop. */
const ANSWERS = 10
const WARM_MS = 60_000

/** What a stop under load has come to. */
export interface StopUnderLoad {
  readonly ms: number
  readonly result: ProcessResult
  readonly traffic: Traffic
}

/** Sends traffic of every kind, and stops the server in the middle of it. Resolves when every client has ended. */
export async function stopUnderLoad(
  server: Pick<Server, 'baseUrl' | 'stop'>,
  world: TrafficWorld,
): Promise<StopUnderLoad> {
  const traffic = startTraffic({ baseUrl: server.baseUrl, world, clients: CLIENTS })
  const isUnderLoad = async () =>
    TRAFFIC_KINDS.every((kind) => (traffic.answers.get(`${kind} succeeded`) ?? 0) >= ANSWERS)
  await waitUntil('Every client is answered', isUnderLoad, WARM_MS)
  const begun = performance.now()
  const result = await server.stop()
  const ms = performance.now() - begun
  await traffic.ended
  return { ms, result, traffic }
}
