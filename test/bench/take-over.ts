import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { callLog } from '../../projections/calls/call-log.ts'
import { call } from '../../src/domain/calls/call.ts'
import { streamOf } from '../../src/kernel/entity.ts'
import { openLog, openOperationalStore } from '../../src/main/stores.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { OperationalStore } from '../../src/ports/operational-store.ts'
import { callFlow } from '../../src/reactions/call-flow.ts'
import { POOLS, readLeases } from '../../src/runtime/ownership/leases.ts'
import { instanceOf, readBeats } from '../../src/runtime/ownership/presence.ts'
import { readReactionPositions } from '../../src/runtime/reactions/reaction-checkpoint.ts'
import { TIMERS } from '../../src/runtime/reactions/timers.ts'
import { createApiClient } from '../support/e2e/api-client.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { createPlatformProcess, freePort, type PlatformProcess } from '../support/faults/platform-process.ts'
import { buildFaultWorld, type FaultWorld } from '../support/faults/world.ts'
import { databaseOf } from '../support/servers.ts'
import { type Figure, figureOf } from './measure.ts'

/** Kills of the owner of each kind of work. */
const KILLS = 3
const MUST_SECONDS = 5
const POLL_MS = 20
/** How long before a job is due its owner is killed (ms). */
const BEFORE_DUE_MS = 200
const BOUND_MS = 60_000

/** Two workers that share all work, a process that takes requests, and the stores of all. */
interface Platform {
  readonly world: FaultWorld
  readonly workers: readonly PlatformProcess[]
  readonly ask: ReturnType<typeof createApiClient>
  readonly log: EventLog
  readonly ops: OperationalStore
}

/** Polls until there is a value. @throws Error when there is none for a minute */
async function until<Value>(what: string, read: () => Promise<Value | null | undefined | false>): Promise<Value> {
  for (const end = performance.now() + BOUND_MS; performance.now() < end; await pause(POLL_MS)) {
    const value = await read()
    if (value !== null && value !== undefined && value !== false) return value
  }
  throw new Error(`${what}: not within ${BOUND_MS} ms`)
}

/** A lane of a group and the process that owns it, once every process lives and has lanes. */
async function ownerOf(
  { workers, ops }: Platform,
  pool: string,
  group: string,
): Promise<{ readonly owner: PlatformProcess; readonly lane: string }> {
  const instanceOfProcess = ({ baseUrl }: PlatformProcess) => `${hostname()}:${new URL(baseUrl).port}`
  return until(`${group} has an owner`, async () => {
    const now = Date.now()
    const [leases, beats] = await Promise.all([readLeases(ops, pool, now), readBeats(ops, now)])
    const owned = [...leases.values()].flatMap(({ lane, owner }) =>
      owner !== null && beats.has(owner) ? [{ lane, instance: instanceOf(owner) }] : [],
    )
    const shared = workers.every((worker) => owned.some(({ instance }) => instance === instanceOfProcess(worker)))
    const own = owned.find(({ lane }) => lane.group === group || lane.group.startsWith(`${group}@`))
    const owner = workers.find((worker) => instanceOfProcess(worker) === own?.instance)
    return shared && own && owner && { owner, lane: own.lane.key }
  })
}

/** Places a call; returns its id. `buffered`: it is settled by a timer. */
async function placeCall({ world, ask }: Platform, buffered: boolean): Promise<string> {
  const [plain, late] = world.lines
  const answers = world.targets.map((target) => [target, [{ result: 'answer', afterSeconds: 1, talkSeconds: 30 }]])
  const body = {
    to: (buffered ? late : plain)?.e164,
    mode: buffered ? 'live' : 'instant',
    ...(buffered ? { speed: 60 } : {}),
    script: Object.fromEntries(answers),
  }
  const answer = await ask('/api/sandbox/calls', { method: 'POST', body })
  if (answer.status !== 201) throw new Error(`A call was answered ${answer.status}: ${answer.text}`)
  return answer.body.callId
}

/** Seconds from the kill of the projection's owner until a call that is placed then can be read. */
async function projectionSeconds(platform: Platform): Promise<number> {
  const { owner } = await ownerOf(platform, POOLS.projections, callLog.name)
  await owner.kill()
  const killedAt = performance.now()
  const callId = await placeCall(platform, false)
  await until('The call can be read', async () => {
    const { status } = await platform.ask(`/api/tracking/calls/${callId}`)
    return status === 200
  })
  return (performance.now() - killedAt) / 1_000
}

/** Seconds from the kill of the reaction's owner until another process has begun where it stopped. */
async function reactionSeconds(platform: Platform): Promise<number> {
  const { owner, lane } = await ownerOf(platform, POOLS.work, callFlow.name)
  const epochOf = async () => {
    const positions = await readReactionPositions(platform.ops, callFlow.name, Date.now())
    return positions.get(lane)?.epoch ?? 0
  }
  const before = await epochOf()
  await owner.kill()
  const killedAt = performance.now()
  await until('Another process works on', async () => (await epochOf()) > before)
  return (performance.now() - killedAt) / 1_000
}

/** Seconds from the kill of the timers' owner, right before a job is due, until the job is done. */
async function timerSeconds(platform: Platform): Promise<number> {
  const { log, world } = platform
  const { owner } = await ownerOf(platform, POOLS.work, TIMERS)
  const callId = await placeCall(platform, true)
  const stream = streamOf(call, callId, world.tenant.workspaceId)
  const eventOf = async (type: string) => (await log.read(stream, 0)).find((event) => event.type === type)
  const ended = await until('The call ends', () => eventOf('CallEnded'))
  const { settlesAt } = call.events.CallEnded.parse(ended.data)
  await pause(Math.max(0, Date.parse(settlesAt) - Date.now() - BEFORE_DUE_MS))
  await owner.kill()
  const killedAt = performance.now()
  if (await eventOf('CallSettled')) throw new Error('The call was settled before its timer.')
  await until('The call is settled', () => eventOf('CallSettled'))
  return (performance.now() - killedAt) / 1_000
}

/** Kills owners of one kind of work, one after the other; each is started again. */
async function kills(platform: Platform, measure: (platform: Platform) => Promise<number>): Promise<readonly number[]> {
  const seconds: number[] = []
  for (let n = 0; n < KILLS; n++) {
    seconds.push(await measure(platform))
    for (const worker of platform.workers) {
      if (await fetch(`${worker.baseUrl}/healthz`).catch(() => null)) continue
      worker.start()
      await worker.waitUntilAnswering()
    }
  }
  return seconds
}

async function openPlatform(eventStoreUrl: string, mongoUrl: string) {
  const connectionStrings = () => ({
    EVENT_LOG_URL: eventStoreUrl,
    READ_STORE_URL: databaseOf(mongoUrl, 'take-over'),
  })
  const { env, eventLogUrl, readStoreUrl, remove } = await createFaultEnvironment({
    name: 'servers',
    connectionStrings,
  })
  const world = await createWorldIn(env, buildFaultWorld)
  const front = createPlatformProcess({ ...env, ROLES: 'command-api,query-api' })
  const workers = await Promise.all(
    [1, 2].map(async () => createPlatformProcess({ ...env, ROLES: 'projector,worker', PORT: await freePort() })),
  )
  const processes = [front, ...workers]
  for (const process of processes) {
    process.start()
    await process.waitUntilAnswering()
  }
  const [log, ops] = await Promise.all([openLog(eventLogUrl), openOperationalStore(readStoreUrl)])
  const ask = createApiClient(() => front.baseUrl, world.tenant.session)
  const platform: Platform = { world, workers, ask, log, ops }
  await until('The world can be read', async () => (await ask('/api/tracking/calls')).status === 200)
  return {
    platform,
    async close() {
      await Promise.all(processes.map((process) => process.kill()))
      await Promise.all([log.close(), ops.close()])
      remove()
    },
  }
}

/**
 * Take-over after `kill -9`, of real processes on real servers: two that have the roles projector and worker, and one that
 * takes requests. The ceiling is what is allowed.
 */
export async function takeOver(eventStoreUrl: string, mongoUrl: string): Promise<readonly Figure[]> {
  const { platform, close } = await openPlatform(eventStoreUrl, mongoUrl)
  try {
    const measured: Figure[] = []
    for (const [what, measure] of [
      ['a projection', projectionSeconds],
      ['a reaction', reactionSeconds],
      ['the timers', timerSeconds],
    ] as const) {
      const pairs = (await kills(platform, measure)).map((ours) => ({ ours, ceiling: MUST_SECONDS }))
      measured.push(figureOf(`take-over after kill -9 of the owner of ${what}`, 's', { atMost: 1 }, pairs))
    }
    return measured
  } finally {
    await close()
  }
}
