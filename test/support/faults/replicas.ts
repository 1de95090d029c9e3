import { join } from 'node:path'
import type { ProcessRole } from '../../../src/main/config.ts'
import { waitUntil } from '../e2e/server.ts'
import type { FaultEnvironment } from './environment.ts'
import { createPlatformProcess, freePort, type PlatformProcess, startOf } from './platform-process.ts'

/** Roles that share a process, in the order of an upgrade. */
export const SERVICES: readonly (readonly ProcessRole[])[] = [
  ['projector'],
  ['query-api', 'public-api'],
  ['worker'],
  ['command-api', 'auction-api'],
]
const REPLICAS = 2
/** How long (ms) a process may take until it is ready, on a busy machine. */
const READY_MS = 240_000

const PRELOADED = join(import.meta.dirname, 'dying-thread.mjs')

/** A process of the platform that a supervisor keeps running. */
export interface Replica {
  readonly process: PlatformProcess
  /** File by which a thread of it is made to die. */
  readonly death: string
}

/** Two processes of each role, which are replaced by service, and started again when they end. */
export interface Replicas {
  /** Base URLs of the processes of a role. */
  readonly baseUrlsOf: (role: ProcessRole) => readonly string[]
  readonly of: (role: ProcessRole) => readonly Replica[]
  readonly startAll: () => Promise<void>
  /** Replaces all processes by those of another version (null: this one), in the order of an upgrade. */
  readonly upgradeTo: (scripts: string | null) => Promise<void>
  readonly untilReady: () => Promise<void>
  /** Starts again what has ended by itself; returns the exit codes. */
  readonly revive: () => readonly number[]
  /** Stops all gracefully; returns the exit codes. */
  readonly stopAll: () => Promise<readonly (number | null)[]>
  readonly kill: () => Promise<void>
}

/** The sentence of a process that could not start because a store was slow. */
const STORE_IS_SLOW = /^Ringledger cannot start: .* does not respond/m

/** Waits until a process is ready; one to which a store did not respond in time is started again. @throws Error when it ends otherwise */
export async function untilReady({ process }: Replica): Promise<void> {
  const isReady = async () => {
    if (process.endedWith() === null) return process.answers('/readyz')
    if (!STORE_IS_SLOW.test(process.lastOutput())) throw new Error(`A replica ended: ${process.lastOutput()}`)
    process.start()
    return false
  }
  await waitUntil('A replica is ready', isReady, READY_MS)
}

/** Creates the processes, without starting them. */
export async function createReplicas({ env, dataDir }: FaultEnvironment): Promise<Replicas> {
  let created = 0
  const create = async (roles: readonly ProcessRole[], scripts?: string): Promise<Replica> => {
    created += 1
    const death = join(dataDir, '..', `death-${created}`)
    const mortal = { NODE_OPTIONS: `--import=${PRELOADED}`, THREAD_DEATH: death }
    const own = { ROLES: roles.join(','), PORT: await freePort(), SHARDS: '2', TRUST_PROXY: 'true' }
    return {
      death,
      process: createPlatformProcess(
        { ...env, ...mortal, ...own },
        scripts === undefined ? undefined : startOf(scripts),
      ),
    }
  }
  const createSome = (roles: readonly ProcessRole[], scripts?: string) =>
    Promise.all(Array.from({ length: REPLICAS }, () => create(roles, scripts)))
  const services = new Map<readonly ProcessRole[], readonly Replica[]>()
  for (const roles of SERVICES) services.set(roles, await createSome(roles))
  const all = () => [...services.values()].flat()
  const of = (role: ProcessRole) => [...services].flatMap(([roles, replicas]) => (roles.includes(role) ? replicas : []))

  async function startReady(replicas: readonly Replica[]): Promise<void> {
    for (const { process } of replicas) process.start()
    for (const replica of replicas) await untilReady(replica)
  }
  const stop = (replicas: readonly Replica[]) => Promise.all(replicas.map(({ process }) => process.stop()))

  /** Replaces the processes of a service: workers are stopped before their successors start, any others after. */
  async function replace(roles: readonly ProcessRole[], successors: readonly Replica[]): Promise<void> {
    const old = services.get(roles) ?? []
    if (roles.includes('worker')) await stop(old)
    await startReady(successors)
    // The proxy knows the old ones until they are gone.
    services.set(roles, [...old, ...successors])
    await stop(old)
    services.set(roles, successors)
  }

  return {
    of,
    baseUrlsOf: (role) => of(role).map(({ process }) => process.baseUrl),
    async startAll() {
      for (const replicas of services.values()) await startReady(replicas)
    },
    async upgradeTo(scripts) {
      const [projecting = [], ...others] = SERVICES
      const old = services.get(projecting) ?? []
      const projectors = await createSome(projecting, scripts ?? undefined)
      await startReady(projectors)
      services.set(projecting, [...old, ...projectors])
      for (const roles of others) await replace(roles, await createSome(roles, scripts ?? undefined))
      await stop(old)
      services.set(projecting, projectors)
    },
    async untilReady() {
      for (const replica of all()) await untilReady(replica)
    },
    revive: () =>
      all().flatMap(({ process }) => {
        const code = process.endedWith()
        if (code === null) return []
        process.start()
        return [code]
      }),
    stopAll: () => stop(all()),
    kill: async () => void (await Promise.all(all().map(({ process }) => process.kill()))),
  }
}
