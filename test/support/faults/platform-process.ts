import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { COMPILE_CACHE, waitUntil } from '../e2e/server.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ANSWER_MS = 60_000
/** Time limit (ms) for started processes to be ready, beside suites that load the machine. */
export const READY_MS = 160_000
/** Time limit (ms) of one request that asks whether it answers. */
const ASK_MS = 5_000
const OUTPUT_KEPT = 4_000

export type Environment = Readonly<Record<string, string>>

/** A process of the platform on one port that can be started and killed repeatedly. */
export interface PlatformProcess {
  readonly baseUrl: string
  /** Its exit code if it has ended by itself; null while it runs, and after it was ended. */
  readonly endedWith: () => number | null
  /** The end of its output. */
  readonly lastOutput: () => string
  /** Starts the process, with more variables for this once, without waiting until it answers. */
  readonly start: (more?: Environment) => void
  /** Whether it answers a path with success, in time. */
  readonly answers: (path: '/healthz' | '/readyz') => Promise<boolean>
  /** Waits until it answers requests. @throws Error with its output when it ends instead */
  readonly waitUntilAnswering: () => Promise<void>
  /** Kills it at once (SIGKILL). */
  readonly kill: () => Promise<void>
  /** Stops it gracefully (SIGTERM); returns its exit code. */
  readonly stop: () => Promise<number | null>
}

/** Ports below those that systems give to connections and to servers that name none: nothing takes one meanwhile. */
const PORTS = { from: 20_000, to: 32_000 } as const

/** A free port, for a process that starts later. */
export async function freePort(): Promise<string> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.close()
    if (isFree) return String(port)
  }
}

type CommandLine = readonly [string, ...string[]]

/** The command line of `npm start`, of the scripts in a folder. */
export const startOf = (scripts: string): CommandLine => [process.execPath, join(scripts, 'start.ts')]
const START = startOf('scripts')

/** A platform without seed, over the stores named in its environment, run by a command line (its program first) in this checkout. */
export function createPlatformProcess(env: Environment, [program, ...words]: CommandLine = START): PlatformProcess {
  const baseUrl = `http://127.0.0.1:${env.PORT}`
  let running: ChildProcess | null = null
  let said = ''
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> => {
    if (!running) return null
    const child = running
    running = null
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close')
      child.kill(signal)
      await closed
    }
    return child.exitCode
  }
  const answers = (path: string) =>
    fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(ASK_MS) }).then(
      ({ ok }) => ok,
      () => false,
    )
  return {
    baseUrl,
    answers,
    endedWith: () => running?.exitCode ?? null,
    lastOutput: () => said,
    start(more = {}) {
      const { PATH = '', HOME = '' } = process.env
      said = ''
      running = spawn(program, words, {
        cwd: ROOT,
        env: { PATH, HOME, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const hear = (chunk: unknown) => {
        said = `${said}${chunk}`.slice(-OUTPUT_KEPT)
      }
      running.stdout?.on('data', hear)
      running.stderr?.on('data', hear)
    },
    waitUntilAnswering: () =>
      waitUntil(
        'The platform answers',
        async () => {
          if (!running || running.exitCode !== null) throw new Error(`The platform ended: ${said}`)
          return answers('/healthz')
        },
        ANSWER_MS,
      ).then(() => undefined),
    kill: async () => {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
  }
}
