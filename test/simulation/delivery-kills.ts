import { v7 } from 'uuid'
import { createWebhook } from '../../commands/delivery/create-webhook.ts'
import { secretHash } from '../../src/api/secret-hash.ts'
import { createRandom } from '../../src/domain/routing/random.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { openLog } from '../../src/main/stores.ts'
import type { StreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { embeddedStores, type StoreSetup, storeSetups, waitUntil } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { startLoad } from '../support/faults/load.ts'
import {
  createPlatformProcess,
  type Environment,
  freePort,
  type PlatformProcess,
} from '../support/faults/platform-process.ts'
import { type RecordingReceiver, startRecordingReceiver } from '../support/faults/recording-receiver.ts'
import { buildFaultWorld } from '../support/faults/world.ts'
import { deliveryLogViolations, type Endpoint } from '../support/oracle/deliveries.ts'
import { audit, eventsOf } from '../support/oracle/oracle.ts'

const CLIENTS = 2
/** The pause (ms) between two calls of a client: their deliveries keep the workers busy. */
const PAUSE_MS = 400
/** Maximum number of acknowledged calls of which no event is delivered yet. */
const MAX_BACKLOG = 20
/** Roles of the process that takes the calls, where it does not deliver. */
const FRONT_ROLES = 'command-api,query-api,projector'
/** A process is killed over one of so many of the next requests. */
const REQUESTS = 8
/** Longest time (ms) until deliveries go on after a kill. */
const RECOVERY_MS = 90_000

/** The result of a run. */
export interface DeliveryKillReport {
  readonly kills: number
  /** Requests that came, and those whose sender was killed before the answer. */
  readonly requests: number
  readonly interrupted: number
  /** A sentence for each rule that was broken. */
  readonly faults: readonly string[]
}

interface DeliveryKillOptions {
  readonly setup: StoreSetup
  readonly kills: number
  /** Time (ms) to deliver everything after the last kill. */
  readonly settleMs: number
  readonly seed: number
  readonly tell?: (sentence: string) => void
}

/** The workspace of the fault tests with an endpoint that hears everything, and one that hears two events. */
async function buildWorld(writer: StreamWriter, { url }: RecordingReceiver) {
  const world = await buildFaultWorld(writer)
  const endpoints: readonly Endpoint[] = [
    { id: v7(), url: url('everything'), events: null, campaignId: null },
    { id: v7(), url: url('two'), events: ['call.completed', 'call.unrouted'], campaignId: null },
  ]
  for (const { id, url: target, events } of endpoints) {
    const settings = {
      ...{ name: target, url: target, method: 'POST', headers: {}, bodyTemplate: null, note: null },
      ...{ eventPattern: events ?? ['*'], campaignId: null, publisherId: null },
    }
    const secret = { version: 1, hash: secretHash(target), hint: 'whsec_' }
    await world.tenant.act(createWebhook, { webhookId: id, kind: 'webhook', settings, secret })
  }
  return { ...world, endpoints }
}

/** The processes of a run: those that are killed, and the one that takes the calls. */
interface Cast {
  readonly workers: readonly PlatformProcess[]
  readonly front: PlatformProcess
}

/** Two workers beside a process that takes calls and projects, over servers; else one process that does it all. */
async function castOf(setup: StoreSetup, env: Environment): Promise<Cast> {
  const create = async (own: Environment = {}) => createPlatformProcess({ ...env, ...own, PORT: await freePort() })
  if (setup === embeddedStores) {
    const whole = await create()
    return { workers: [whole], front: whole }
  }
  const worker = () => create({ ROLES: 'worker' })
  return { workers: [await worker(), await worker()], front: await create({ ROLES: FRONT_ROLES }) }
}

/** Kills a worker over a request that is under way, which may be its own, and starts it again. */
async function killing(
  workers: readonly PlatformProcess[],
  receiver: RecordingReceiver,
  { kills, tell }: DeliveryKillOptions,
  chance: () => number,
): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    // At once: the request is answered a moment later.
    await receiver.next(1 + Math.floor(chance() * REQUESTS), RECOVERY_MS)
    const victim = workers[Math.floor(chance() * workers.length)]
    await victim?.kill()
    victim?.start()
    tell?.(`kill ${kill} of ${kills}, after ${receiver.got.length} requests`)
  }
  for (const process of workers) await process.waitUntilAnswering()
}

/** Number of calls whose first event, which every call has, is delivered to the endpoint that hears everything. */
function deliveredCalls({ got, url }: RecordingReceiver): number {
  const first = got.filter(
    (request) =>
      request.status === 200 && request.url === url('everything') && request.body.includes('"call.incoming"'),
  )
  return new Set(first.map(({ requestId }) => requestId)).size
}

/** Starts the platform once and ends it in peace: what begins at the end of the log begins before the calls. */
async function startOnce(processes: readonly PlatformProcess[]): Promise<void> {
  for (const process of processes) process.start()
  for (const process of processes) {
    await process.waitUntilAnswering()
    await waitUntil('The platform is ready', () => process.answers('/readyz'), RECOVERY_MS)
  }
  for (const process of processes) await process.stop()
}

/**
 * Kills workers over their deliveries again and again, lets the platform deliver everything, and judges its log and what the
 * receiver got. Over servers there are two workers, of which one dies at a time.
 */
export async function runDeliveryKills(options: DeliveryKillOptions): Promise<DeliveryKillReport> {
  const { setup, kills, seed, settleMs, tell } = options
  const chance = createRandom(seed)
  const receiver = await startRecordingReceiver(chance)
  const { env: production, eventLogUrl, remove } = await createFaultEnvironment(setup)
  // In production a receiver has a certificate.
  const env = { ...production, NODE_ENV: 'test', SANDBOX_SEED: '0', EGRESS_ALLOW: '127.0.0.1/32' }
  const world = await createWorldIn(env, (writer) => buildWorld(writer, receiver))
  const { workers, front } = await castOf(setup, env)
  const processes = [...new Set([front, ...workers])]
  await startOnce(processes)
  const load = startLoad(world, CLIENTS, () => front.baseUrl, chance, {
    pauseMs: PAUSE_MS,
    isPaused: (acknowledged) => acknowledged - deliveredCalls(receiver) > MAX_BACKLOG,
  })
  const log = await openLog(eventLogUrl)
  const faultsIn = (events: readonly RecordedEvent[]) => {
    const { violations, open } = audit(events, load.acknowledged, Date.now())
    const deliveries = deliveryLogViolations(events, world.endpoints, receiver.got, { inOrder: false })
    return [...violations, ...open, ...deliveries, ...receiver.overlaps, ...load.strange]
  }
  const look = async () => faultsIn(await eventsOf(log, world.tenant.workspaceId))
  try {
    for (const process of processes) process.start()
    await killing(workers, receiver, options, chance).finally(() => load.stop())
    receiver.recover()
    tell?.(`${load.acknowledged.size} calls acknowledged`)
    await waitUntil('Everything is delivered', async () => (await look()).length === 0, settleMs).catch(() => undefined)
    const faults = await look()
    for (const process of processes) await process.stop()
    return { kills, requests: receiver.got.length, interrupted: receiver.interrupted(), faults }
  } finally {
    await load.stop()
    await Promise.all(processes.map((process) => process.kill()))
    await log.close()
    receiver.close()
    remove()
  }
}

if (import.meta.main) {
  const setup = storeSetups.at(-1) ?? embeddedStores
  const report = await runDeliveryKills({
    setup,
    kills: Number(process.argv[2] ?? 200),
    settleMs: 240_000,
    seed: Number(process.argv[3] ?? 1),
    tell: (sentence) => console.log(`${new Date().toISOString()} ${sentence}`),
  })
  console.log(JSON.stringify({ stores: setup.name, ...report }, null, 2))
  process.exitCode = report.faults.length === 0 ? 0 : 1
}
