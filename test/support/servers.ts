import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { StartedTestContainer } from 'testcontainers'

/** The real servers that suites use, by the variable with the URL of a running one. */
const SERVERS = {
  EVENTSTORE_URL: {
    image: 'eventstore/eventstore:23.10.0-bookworm-slim',
    environment: { EVENTSTORE_INSECURE: 'true', EVENTSTORE_MEM_DB: 'true', EVENTSTORE_RUN_PROJECTIONS: 'None' },
    port: 2113,
    url: (address: string) => `esdb://${address}?tls=false`,
  },
  MONGODB_URL: {
    image: 'mongo:8',
    environment: {},
    port: 27017,
    url: (address: string) => `mongodb://${address}/`,
  },
} as const

type Variable = keyof typeof SERVERS

/** Connection string of an EventStoreDB for tests; null with a warning when there is none. */
export function eventStoreUrl(): string | null {
  return urlOf('EVENTSTORE_URL', 'EventStoreDB')
}

/** Connection string of a MongoDB for tests; null with a warning when there is none. */
export function mongoUrl(): string | null {
  return urlOf('MONGODB_URL', 'MongoDB')
}

/** The connection string with another database. */
export function databaseOf(url: string, database: string): string {
  return url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${database}`)
}

/**
 * What the variables of each pair of servers begin with. Each worker has a pair of its own, as far as they go: two platforms over
 * one pair would share its read models. (EventStoreDB reads every variable that begins with `EVENTSTORE_` as an option.)
 */
const PAIRS = ['', 'SECOND_']
const namesOf = (variable: string) => PAIRS.map((pair) => `${pair}${variable}`)

/**
 * Workers of the end-to-end suites: one for each pair that is named; else two. A third one would only slow them: the platforms and
 * servers of two fill two cores.
 */
export function serverWorkers(): number {
  const named = namesOf('EVENTSTORE_URL').filter((name) => process.env[name]).length
  return named || PAIRS.length
}

function urlOf(variable: Variable, server: string): string | null {
  const urls = namesOf(variable).flatMap((name) => process.env[name] ?? [])
  const url = urls[Number(process.env.VITEST_POOL_ID ?? 1) % Math.max(urls.length, 1)]
  if (url) return url
  console.warn(`${variable} is not set and no container engine answers: the tests against ${server} are left out.`)
  return null
}

/** Real servers that a test may kill, since no other uses them, with their data on disk. */
export interface FaultServers {
  readonly eventStoreUrl: string
  readonly mongoUrl: string
  /** `kill`, `stop`, `pause`, `resume` or `start` EventStoreDB (e) or MongoDB (m). */
  readonly control: (action: 'kill' | 'stop' | 'pause' | 'resume' | 'start', server: 'e' | 'm') => Promise<void>
}

/** The servers that `FAULTS_…` names, or the plain variables when they name servers on disk; null with a warning for none. */
export function faultServers(): FaultServers | null {
  const { env } = process
  const prefix = env.SERVERS_DISK ? '' : 'FAULTS_'
  const [log, views, command] = ['EVENTSTORE_URL', 'MONGODB_URL', 'SERVERS_CTL'].map((name) => env[`${prefix}${name}`])
  if (!log || !views || !command) {
    console.warn('FAULTS_SERVERS_CTL is not set: the tests that kill servers are left out.')
    return null
  }
  const run = promisify(execFile)
  return {
    eventStoreUrl: log,
    mongoUrl: views,
    control: async (action, server) => void (await run(command, [action, server])),
  }
}

const containers: StartedTestContainer[] = []

/** Variable with the folder that lists shared platforms: a file for each process id, holding a folder to remove. */
export const LEFT_RUNNING = 'RINGLEDGER_TESTS_LEFT_RUNNING'

let leftRunning = ''

/** Global setup of vitest: starts the servers that no variable names, if a container engine answers. */
export async function setup(): Promise<void> {
  leftRunning = mkdtempSync(join(tmpdir(), 'ringledger-running-'))
  process.env[LEFT_RUNNING] = leftRunning
  const missing = Object.entries(SERVERS).flatMap(([variable, server]) =>
    process.env[variable] ? [] : namesOf(variable).map((name) => [name, server] as const),
  )
  if (missing.length === 0) return
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers')
  const engine = await getContainerRuntimeClient().catch(() => null)
  if (!engine) return
  await Promise.all(
    missing.map(async ([name, { image, environment, port, url }]) => {
      const container = await new GenericContainer(image)
        .withEnvironment(environment)
        .withExposedPorts(port)
        .withStartupTimeout(120_000)
        .start()
      containers.push(container)
      process.env[name] = url(`${container.getHost()}:${container.getMappedPort(port)}`)
    }),
  )
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already; the tests that needed it have failed.
  }
}

/** Global teardown of vitest. */
export async function teardown(): Promise<void> {
  for (const pid of readdirSync(leftRunning)) {
    endProcess(Number(pid))
    rmSync(readFileSync(join(leftRunning, pid), 'utf8'), { recursive: true, force: true })
  }
  rmSync(leftRunning, { recursive: true, force: true })
  await Promise.all(containers.splice(0).map((container) => container.stop()))
}
