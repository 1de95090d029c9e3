import { Worker } from 'node:worker_threads'
import { connectRpc, type Handlers, type Remote } from '../../kernel/async/thread-rpc.ts'
import { channelOf } from '../../kernel/async/worker-channel.ts'
import type { WorkerLifecycle, WorkerStart } from './worker.ts'

/** The most that the young generation of such a thread grows to (MB): it keeps little, and grew for minutes of an even load. */
const YOUNG_MB = 4

/** A worker thread that owns one file. */
export interface FileThread<H extends Handlers> {
  /** Handlers of the running thread; starts it again if it died. @throws when it cannot start, and after `close` */
  readonly remote: () => Promise<Remote<H>>
  /** Lets pending calls finish, then ends the thread; later calls are refused. */
  readonly close: () => Promise<void>
}

/** Class of the port's error for an unavailable file. */
export type UnavailableType = new (message: string) => Error

interface RunningThread<H extends Handlers> {
  readonly worker: Worker
  readonly remote: Remote<H>
}

/**
 * Starts the thread of a module that calls `serveFile` (worker.ts).
 * @throws Unavailable when the file cannot be opened; an Error when a newer version of the program wrote it.
 */
export async function openFileThread<H extends Handlers>(
  module: URL,
  path: string,
  Unavailable: UnavailableType,
): Promise<FileThread<H>> {
  let thread: Promise<RunningThread<H & WorkerLifecycle>> | null = null
  let closed = false
  const start = () => {
    const started = startThread<H & WorkerLifecycle>(module, path, Unavailable)
    const forget = () => {
      if (thread === started) thread = null
    }
    started.then(({ worker }) => worker.once('exit', forget), forget)
    return started
  }
  const running = () => {
    if (closed) throw new Unavailable(`${path} was closed.`)
    thread ??= start()
    return thread
  }
  await running()
  return {
    remote: async () => (await running()).remote,
    async close() {
      if (closed) return
      const last = thread
      closed = true
      const ended = await last?.catch(() => null)
      if (!ended) return
      const lifecycle: Remote<WorkerLifecycle> = ended.remote
      await lifecycle.close().catch(() => undefined)
      await ended.worker.terminate()
    },
  }
}

async function startThread<H extends WorkerLifecycle>(
  module: URL,
  path: string,
  Unavailable: UnavailableType,
): Promise<RunningThread<H>> {
  const worker = new Worker(module, {
    workerData: { path } satisfies WorkerStart,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  })
  let reason = `The thread of ${path} ended.`
  worker.once('error', (error) => {
    reason = error instanceof Error ? error.message : String(error)
  })
  const remote = connectRpc<H>(channelOf(worker), () => new Unavailable(reason), { FileUnavailable: Unavailable })
  try {
    const lifecycle: Remote<WorkerLifecycle> = remote
    await lifecycle.ready()
    return { worker, remote }
  } catch (error) {
    await worker.terminate()
    throw error
  }
}
