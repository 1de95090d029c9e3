import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../../src/seed/seed.ts'
import { databaseOf, eventStoreUrl, mongoUrl } from '../servers.ts'

const SCRIPTS = join(import.meta.dirname, '../../../scripts')
const START_TIMEOUT_MS = 120_000
/** Pauses between polls: short at first, longer for what takes seconds. */
const POLL_MS = { first: 25, growth: 1.25, longest: 150 }
/** Compile cache of the started processes: each start loads the same sources in several threads. */
/** Compiled modules, which processes of the tests share. */
export const COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'ringledger-compiled')

/** How the name of a directory that `freshEnvironment` made begins; no other is removed. */
const DIRECTORY = 'ringledger-'

type Environment = Readonly<Record<string, string>>

/** A set of stores that the platform runs over. */
export interface StoreSetup {
  readonly name: string
  /** Connection strings, as environment variables. */
  readonly connectionStrings: () => Environment
}

/**
 * Suites share one event log, and with it one sandbox workspace, whose secrets derive from this key. They also share the
 * read models of that log, so that no suite projects the whole log again.
 */
export const SHARED_MASTER_KEY = Buffer.alloc(32, 'ringledger').toString('base64')

function realStores(): readonly StoreSetup[] {
  const [log, views] = [eventStoreUrl(), mongoUrl()]
  if (!log || !views) return []
  const connectionStrings = () => ({
    EVENT_LOG_URL: log,
    READ_STORE_URL: databaseOf(views, 'e2e'),
    MASTER_KEY: SHARED_MASTER_KEY,
  })
  return [{ name: 'EventStoreDB and MongoDB', connectionStrings }]
}

/** The stores of a platform without servers. */
export const embeddedStores: StoreSetup = { name: 'SQLite', connectionStrings: () => ({}) }

/** Every set of stores that is available. */
export const storeSetups: readonly StoreSetup[] = [embeddedStores, ...realStores()]

/** Output and exit code of a process. */
export interface ProcessResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A running platform. `restart` keeps its stores, `dispose` removes its directory. */
export interface Server {
  readonly env: Environment
  readonly pid: number
  readonly dataDir: string
  readonly baseUrl: string
  readonly sandbox: Sandbox
  /** Its standard output since its last start. */
  readonly stdout: () => string
  /** Sends SIGTERM and waits for the end. */
  readonly stop: () => Promise<ProcessResult>
  /** Sends SIGKILL and waits for the end. */
  readonly kill: () => Promise<void>
  /** Stops it if it runs, and starts it again over the same stores. */
  readonly restart: (more?: Environment) => Promise<void>
  /** Stops it and removes its directory, if `freshEnvironment` made it. */
  readonly dispose: () => Promise<void>
}

/** The environment of a platform with a new data directory. */
export function freshEnvironment(setup: StoreSetup): Environment {
  const dataDir = join(mkdtempSync(join(tmpdir(), DIRECTORY)), 'var')
  return { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn', SANDBOX_SEED: '0', ...setup.connectionStrings() }
}

/** A process that was started. */
export interface LaunchedProcess {
  readonly child: ChildProcess
  readonly output: { stdout: string; stderr: string }
  readonly result: Promise<ProcessResult>
}

function launch(env: Environment, script = 'start', words: readonly string[] = [], scripts = SCRIPTS): LaunchedProcess {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [join(scripts, `${script}.ts`), ...words], {
    env: { PATH, HOME, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  const result = once(child, 'close').then(([code]): ProcessResult => ({ code, ...output }))
  return { child, output, result }
}

/** Runs a script to its end, as `npm run` does. */
export function runScript(env: Environment, script: string, ...words: readonly string[]): Promise<ProcessResult> {
  return launch(env, script, words).result
}

/** Starts a script, to be killed: its process, what it has written so far, and its end. */
export function startScript(env: Environment, script: string, ...words: readonly string[]): LaunchedProcess {
  return launch(env, script, words)
}

/** Starts a platform that cannot run; returns its output and exit code. */
export async function startExpectingFailure(env: Environment): Promise<ProcessResult> {
  const { child, result } = launch(env)
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS)
  const end = await result
  clearTimeout(timer)
  return end
}

/** Polls until `ask` returns a value. @throws Error when there is none within the bound (ms) */
export async function waitUntil<Value>(
  what: string,
  ask: () => Promise<Value | null | undefined | false>,
  bound = 60_000,
): Promise<Value> {
  let pauseMs = POLL_MS.first
  for (const end = Date.now() + bound; ; await pause(pauseMs)) {
    const value = await ask()
    if (value !== null && value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`${what}: not within ${bound} ms`)
    pauseMs = Math.min(pauseMs * POLL_MS.growth, POLL_MS.longest)
  }
}

async function untilReady({ child, output }: LaunchedProcess): Promise<string> {
  return waitUntil(
    'The platform is ready',
    async () => {
      if (child.exitCode !== null) throw new Error(`The platform ended with ${child.exitCode}: ${output.stderr}`)
      const baseUrl = /answers on (\S+)/.exec(output.stdout)?.[1]
      if (!baseUrl) return null
      const response = await fetch(`${baseUrl}/readyz`).catch(() => null)
      return response?.status === 200 && baseUrl
    },
    START_TIMEOUT_MS,
  )
}

/**
 * Starts the real platform in a separate process on a free port, and waits until it is ready. `scripts`: the folder of the
 * scripts of another version of the code.
 */
export async function startServer(env: Environment, scripts = SCRIPTS): Promise<Server> {
  const dataDir = env.DATA_DIR ?? ''
  const file = join(dataDir, 'sandbox.json')
  let running = launch(env, 'start', [], scripts)
  const alive = () => running.child.exitCode === null && running.child.signalCode === null
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (alive()) running.child.kill(signal)
    return running.result
  }
  const dispose = async () => {
    await end('SIGTERM')
    if (basename(dirname(dataDir)).startsWith(DIRECTORY)) rmSync(dirname(dataDir), { recursive: true, force: true })
  }
  const started = () =>
    untilReady(running).catch(async (error: unknown) => {
      await end('SIGKILL')
      throw error
    })
  let baseUrl = await started()
  return {
    env,
    get pid() {
      return running.child.pid ?? 0
    },
    dataDir,
    get baseUrl() {
      return baseUrl
    },
    get sandbox() {
      if (!existsSync(file)) throw new Error('There is no sandbox.json')
      return JSON.parse(readFileSync(file, 'utf8'))
    },
    stdout: () => running.output.stdout,
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL')
    },
    async restart(more = {}) {
      await end('SIGTERM')
      running = launch({ ...env, ...more }, 'start', [], scripts)
      baseUrl = await started()
    },
    dispose,
  }
}
