import type { Channel } from './thread-rpc.ts'

/** The part of a Worker that carries the protocol. */
interface MessagingWorker {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'exit', listener: () => void): unknown
}

/** The channel of a worker, which emits `exit` where a port emits `close`. */
export function channelOf(worker: MessagingWorker): Channel {
  return {
    postMessage: (message) => worker.postMessage(message),
    on: (event: 'message' | 'close', listener: (message?: unknown) => void) =>
      event === 'close' ? worker.on('exit', listener) : worker.on('message', listener),
  }
}
