import { isUnavailable } from './database.ts'

/** What travels to a thread: calls, numbered from `first`. A null asks it to end. */
export interface Calls {
  readonly first: number
  readonly calls: readonly unknown[]
}

/** What travels back, in any order. `faults` is there only when a call failed. */
export interface Answers {
  readonly ids: readonly number[]
  readonly values: readonly unknown[]
  readonly faults: readonly (CallFault | undefined)[] | null
}

/** An error on its way between threads; `away` when the file cannot be reached. */
export interface CallFault {
  readonly away: boolean
  readonly message: string
}

/** A thread's first message: whether it could open its file. */
export interface Opened {
  readonly fault: CallFault | null
}

/** What a thread is started with. */
export interface Start {
  readonly path: string
  /** Cells that both sides see, below. */
  readonly cells: Int32Array<SharedArrayBuffer>
}

/** Cell that counts the messages posted to the thread; the thread sleeps on it. */
export const POSTED = 0
/** Cell that is 1 while the caller's turn of the event loop is still gathering calls. */
export const GATHERING = 1
export const CELLS = 2

/** An error as it travels. */
export function faultOf(error: unknown): CallFault {
  return { away: isUnavailable(error), message: error instanceof Error ? error.message : String(error) }
}
