import { parentPort, workerData } from 'node:worker_threads'
import { type Channel, type Handlers, serveRpc } from '../../kernel/async/thread-rpc.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import { withFileUnavailable } from './database.ts'

/** What a worker thread is started with. */
export interface WorkerStart {
  readonly path: string
}

/** The part of a thread's handlers that every thread of a file has. */
export type WorkerLifecycle = {
  /** Resolves when the file is open; rejects with the error of opening it. */
  readonly ready: () => void
  /** Closes the file after the calls before it have run. */
  readonly close: () => Promise<void>
}

/** Handlers over one open file. A handler of several calls a tick may return a promise and run them together. */
export interface FileService<H extends Handlers> {
  readonly handlers: H
  /** Called every 25 ms. */
  readonly poll?: () => void
  readonly close: () => void | Promise<void>
}

const POLL_MS = 25

/** Serves the handlers of a file in this worker thread. Their errors of an unavailable file must be FileUnavailable. */
export function serveFile<H extends Handlers>(open: (path: string) => FileService<H>): void {
  if (!parentPort) throw new Error('This module runs in a worker thread only.')
  const { path } = workerData as WorkerStart
  const channel = parentPort as unknown as Channel
  try {
    const { handlers, poll, close } = withFileUnavailable(() => open(path))
    const timer = poll && setInterval(poll, POLL_MS)
    const lifecycle: WorkerLifecycle = {
      ready() {},
      async close() {
        // Handlers run the calls of a tick at its end.
        await yieldToEventLoop()
        clearInterval(timer)
        await close()
      },
    }
    serveRpc(channel, { ...handlers, ...lifecycle })
  } catch (error) {
    serveRpc(channel, {
      ready() {
        throw error
      },
    })
  }
}
