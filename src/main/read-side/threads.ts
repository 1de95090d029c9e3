import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { type Channel, connectRpc, serveRpc } from '../../kernel/async/thread-rpc.ts'
import { LogUnavailable } from '../../ports/event-log.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'

/** What both threads are told when they begin. */
export interface ThreadStart {
  readonly eventLogUrl: string
  readonly readStoreUrl: string
  readonly publicUrl: string
  /** For a thread that opens what is sealed. */
  readonly masterKey?: Uint8Array
  /** Whether another process runs the projections, so that their positions must be asked for. */
  readonly polls: boolean
  /** Where the thread calls back. */
  readonly back: MessagePort
}

/** A thread of this process, and its end. */
export interface Thread<Calls> {
  readonly calls: Calls
  readonly close: () => Promise<void>
}

/**
 * Starts a thread that serves calls, and serves what it calls back. Resolves when it is ready.
 * @throws what the thread could not begin with
 */
export async function startThread<H extends Readonly<Record<string, (argument: never) => unknown>>>(
  file: URL,
  start: Omit<ThreadStart, 'back'>,
  back: Readonly<Record<string, (argument: never) => unknown>>,
  onDeath: (error: Error) => void,
): Promise<Thread<ReturnType<typeof connectRpc<H & { readonly close: (argument: null) => Promise<void> }>>>> {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(file, { workerData: { ...start, back: port2 }, transferList: [port2] })
  serveRpc(port1 as unknown as Channel, back)
  let closing = false
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`${file.pathname.split('/').at(-1)} ended with ${code}.`)))
  })
  worker.removeAllListeners('error')
  worker.removeAllListeners('exit')
  worker.once('error', (error) => onDeath(error instanceof Error ? error : new Error(String(error))))
  worker.once('exit', () => {
    if (!closing) onDeath(new Error('A thread ended.'))
  })
  const calls = connectRpc<H & { readonly close: (argument: null) => Promise<void> }>(
    worker as unknown as Channel,
    () => new StoreUnavailable('The thread that reads has ended.'),
    { LogUnavailable, StoreUnavailable },
  )
  return {
    calls,
    async close() {
      closing = true
      await calls.close(null as never).catch(() => undefined)
      port1.close()
      await worker.terminate()
    },
  }
}
