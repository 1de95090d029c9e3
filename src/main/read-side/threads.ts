import { once } from 'node:events'
import { MessageChannel, MessagePort, parentPort, Worker } from 'node:worker_threads'
import { z } from 'zod'
import { errorMessage } from '../../kernel/async/errors.ts'
import {
  connectRpc,
  type Handlers,
  type Notifications,
  notifyRpc,
  type Remote,
  serveRpc,
} from '../../kernel/async/thread-rpc.ts'
import { channelOf } from '../../kernel/async/worker-channel.ts'
import { LogUnavailable } from '../../ports/event-log.ts'
import { FilesUnavailable } from '../../ports/files.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import { type LoopLag, measureLoopLag } from '../metrics/loop-lag.ts'

const threadStart = z
  .object({
    eventLogUrl: z.string(),
    readStoreUrl: z.string(),
    publicUrl: z.string(),
    sipDomain: z.string().nullish(),
    /** Where columns are kept; made anew when it is missing. */
    columnsDirectory: z.string(),
    /** The root of the keys; only for a thread that opens sealed secrets. */
    root: z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array).optional(),
    /** Whether another process runs the projections, so that the thread polls their checkpoints. */
    polls: z.boolean(),
    /** Name of this process among those that share the stores. */
    owner: z.string(),
    /** Into how many ranges the partitions are cut. */
    shards: z.int(),
    /** Port over which the thread calls the main thread. */
    back: z.instanceof(MessagePort),
    /** Port between the thread of the queries and that of the projections; left out where there is one of them alone. */
    siblingPort: z.instanceof(MessagePort).optional(),
  })
  .readonly()

/** What a thread is started with. */
export type ThreadStart = z.infer<typeof threadStart>

type ThreadLifecycle = {
  readonly close: () => Promise<void>
}

/** What every thread tells of itself. */
type ThreadReports = {
  readonly loopLag: () => LoopLag
}

/** A thread of this process. */
export interface Thread<H extends Handlers> {
  readonly calls: Remote<H>
  readonly notify: Notifications<H>
  /** The lag of its event loop since it was last asked. @throws StoreUnavailable */
  readonly loopLag: () => Promise<LoopLag>
  readonly close: () => Promise<void>
}

/**
 * The most that the young generation of a thread grows to (MB). Without a bound it goes on growing for minutes of an even load,
 * to 60 MB.
 */
const YOUNG_MB = 32

/** What people call the thread of a module: `query thread` for `query-thread.ts`. */
const nameOf = (file: URL) => file.pathname.replace(/^.*\/|\.ts$/g, '').replaceAll('-', ' ')

async function ready(worker: Worker, file: URL): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`The ${nameOf(file)} ended with ${code}.`)))
  })
  worker.removeAllListeners('error')
  worker.removeAllListeners('exit')
}

/** A thread that loads its module, and then waits to be started. */
export interface LoadedThread {
  readonly file: URL
  readonly worker: Worker
}

/** Begins to load the module of a thread, beside whatever this thread loads or waits for. */
export function loadThread(file: URL, youngMb = YOUNG_MB): LoadedThread {
  return { file, worker: new Worker(file, { resourceLimits: { maxYoungGenerationSizeMb: youngMb } }) }
}

/**
 * Starts a thread whose module calls `joinThread`, and serves the handlers `back` to it. Resolves when it is ready. `onDeath` is
 * called once when it ends though nobody has closed it, with one sentence; its calls reject with StoreUnavailable from then on.
 * @throws the error with which the thread failed to start
 */
export async function startThread<H extends Handlers>(
  { file, worker }: LoadedThread,
  start: Omit<ThreadStart, 'back'>,
  back: Handlers,
  onDeath: (error: Error) => void,
): Promise<Thread<H>> {
  const { port1, port2 } = new MessageChannel()
  worker.postMessage({ ...start, back: port2 }, start.siblingPort ? [port2, start.siblingPort] : [port2])
  serveRpc(port1, back)
  let closing = false
  await ready(worker, file)
  let cause = ''
  worker.once('error', (error) => {
    cause = `: ${errorMessage(error)}`
  })
  // `exit` follows `error`.
  worker.once('exit', () => {
    if (!closing) onDeath(new Error(`The ${nameOf(file)} has died${cause}`))
  })
  const ended = () => new StoreUnavailable(`The ${nameOf(file)} has ended.`)
  const channel = channelOf(worker)
  const calls = connectRpc<H & ThreadLifecycle & ThreadReports>(channel, ended, {
    FilesUnavailable,
    LogUnavailable,
    StoreUnavailable,
  })
  const lifecycle: Remote<ThreadLifecycle & ThreadReports> = calls
  return {
    calls,
    notify: notifyRpc<H>(channel),
    loopLag: lifecycle.loopLag,
    async close() {
      closing = true
      await lifecycle.close().catch(() => undefined)
      port1.close()
      await worker.terminate()
    },
  }
}

/** A thread's own end: what it was started with, the handlers of the main thread, and how it serves its own. */
export interface JoinedThread<Main extends Handlers> {
  readonly start: ThreadStart
  readonly main: Remote<Main>
  readonly notifyMain: Notifications<Main>
  /** Serves the handlers and reports that the thread is ready. */
  readonly serve: (handlers: Handlers & ThreadLifecycle) => void
}

/** Waits until the main thread starts this one, and connects it to that. @throws in the main thread */
export async function joinThread<Main extends Handlers>(): Promise<JoinedThread<Main>> {
  const port = parentPort
  if (!port) throw new Error('This module runs in a worker thread only.')
  const [given] = await once(port, 'message')
  const start = threadStart.parse(given)
  return {
    start,
    main: connectRpc<Main>(start.back, () => new Error('The main thread has ended.'), { StoreUnavailable }),
    notifyMain: notifyRpc<Main>(start.back),
    serve(handlers) {
      const reports: ThreadReports = { loopLag: measureLoopLag() }
      serveRpc(port, { ...handlers, ...reports })
      port.postMessage('ready')
    },
  }
}
