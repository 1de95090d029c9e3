import { setImmediate } from 'node:timers'
import { Worker } from 'node:worker_threads'
import {
  type Answers,
  type CallFault,
  type Calls,
  CELLS,
  GATHERING,
  type Opened,
  POSTED,
  type Start,
} from './protocol.ts'

/** A worker thread that owns one file and answers calls in batches. */
export interface Thread {
  /** Answers what the thread answers. Calls of one turn of the event loop travel together. */
  call(call: unknown): Promise<unknown>
  /** Lets what was asked finish, then ends the thread; later calls are refused. */
  close(): Promise<void>
}

/** Makes an error of the port from a sentence. */
export type CreateUnavailable = (message: string) => Error

interface Caller {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

interface Running {
  readonly worker: Worker
  readonly callers: Map<number, Caller>
}

/** So many calls are posted at once while the turn still gathers: the thread works on them meanwhile. */
const CHUNK = 8

/**
 * Starts the thread of a module that calls `serve` (served.ts), and starts it again at the next call when it died.
 * @throws what `away` makes when the file cannot be opened; an Error when a newer version wrote it.
 */
export async function openThread(module: URL, path: string, away: CreateUnavailable): Promise<Thread> {
  const cells = new Int32Array(new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT))
  const run = () => start(module, { path, cells }, away)
  let running: Running | null = await run()
  let closed = false
  let next = 0
  let gathering = false
  let calls: unknown[] = []
  let callers: Caller[] = []

  const post = (): void => {
    if (!running || calls.length === 0) return
    callers.forEach((caller, index) => {
      running?.callers.set(next + index, caller)
    })
    running.worker.postMessage({ first: next, calls } satisfies Calls)
    next += calls.length
    calls = []
    callers = []
    Atomics.add(cells, POSTED, 1)
    Atomics.notify(cells, POSTED)
  }
  const endTurn = (): void => {
    gathering = false
    Atomics.store(cells, GATHERING, 0)
    if (running) post()
    else restart()
  }
  const restart = (): void => {
    run().then(
      (started) => {
        adopt(started)
        post()
      },
      (error: Error) => {
        const refused = callers
        calls = []
        callers = []
        for (const { reject } of refused) reject(error)
      },
    )
  }
  const adopt = (started: Running): void => {
    running = started
    started.worker.once('exit', () => {
      running = null
    })
  }
  const ask = (call: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      calls.push(call)
      callers.push({ resolve, reject })
      if (!gathering) {
        gathering = true
        Atomics.store(cells, GATHERING, 1)
        setImmediate(endTurn)
      }
      if (calls.length >= CHUNK) post()
    })

  adopt(running)
  return {
    call: (call) => (closed ? Promise.reject(away(`${path} was closed.`)) : ask(call)),
    async close() {
      if (closed) return
      closed = true
      if (!running) return
      const { worker } = running
      const ended = new Promise((resolve) => worker.once('exit', resolve))
      await Promise.allSettled([ask(null), ended])
    },
  }
}

function start(module: URL, workerData: Start, away: CreateUnavailable): Promise<Running> {
  return new Promise((resolve, reject) => {
    const callers = new Map<number, Caller>()
    const worker = new Worker(module, { workerData })
    let last = away(`The thread of ${workerData.path} ended.`)
    worker.once('message', (opened: Opened) => {
      if (opened.fault) return reject(revive(opened.fault, away))
      worker.on('message', (answers: Answers) => settle(answers, callers, away))
      resolve({ worker, callers })
    })
    worker.once('error', (error) => {
      last = away(error instanceof Error ? error.message : String(error))
    })
    worker.once('exit', () => {
      reject(last)
      for (const caller of callers.values()) caller.reject(last)
      callers.clear()
    })
  })
}

function settle({ ids, values, faults }: Answers, callers: Map<number, Caller>, away: CreateUnavailable): void {
  ids.forEach((id, index) => {
    const caller = callers.get(id)
    callers.delete(id)
    const fault = faults?.[index]
    if (fault) caller?.reject(revive(fault, away))
    else caller?.resolve(values[index])
  })
}

function revive(fault: CallFault, away: CreateUnavailable): Error {
  return fault.away ? away(fault.message) : new Error(fault.message)
}
