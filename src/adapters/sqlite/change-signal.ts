import { resolve as absolute } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { BroadcastChannel } from 'node:worker_threads'

/** How often writes of other processes are checked for. */
const POLL_MS = 25

/** Signals that the log may have grown. For one waiting follower. */
export interface ChangeSignal {
  /** Resolves at the next write, at once if there was one since the last wait, or when `signal` aborts. */
  wait(signal: AbortSignal): Promise<void>
  notify(): void
  stop(): void
}

function openChannel(path: string): BroadcastChannel {
  const channel = new BroadcastChannel(`ringledger events ${absolute(path)}`)
  channel.unref()
  return channel
}

/**
 * Opens a broadcast to all threads of this process that the log in a file has grown. It is sent after what this turn of the event
 * loop answers: those who wait for their append go first.
 */
export function openAppendBroadcast(path: string): { readonly notifyAppended: () => void; readonly stop: () => void } {
  const channel = openChannel(path)
  let isOpen = true
  const send = () => {
    if (isOpen) channel.postMessage(null)
  }
  return {
    // Answers are sent at the end of this turn, so this is sent at the end of the next.
    notifyAppended: () => void setImmediate(() => setImmediate(send)),
    stop() {
      isOpen = false
      channel.close()
    },
  }
}

/** Creates a check whether another connection has written since the last check. False while the file cannot be read. */
export function createExternalWriteCheck(db: DatabaseSync): () => boolean {
  const version = db.prepare('PRAGMA data_version')
  const look = (): unknown => {
    try {
      return version.get()?.data_version
    } catch {
      return undefined
    }
  }
  let seen = look()
  return () => {
    const now = look()
    if (now === undefined || now === seen) return false
    seen = now
    return true
  }
}

/** Calls `changed` after writes of other connections, until the returned function is called. Does not keep the process alive. */
export function watchExternalWrites(db: DatabaseSync, changed: () => void): () => void {
  const wrote = createExternalWriteCheck(db)
  const timer = setInterval(() => {
    if (wrote()) changed()
  }, POLL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Opens a signal of the broadcasts about one file. */
export function openChangeSignal(path: string): ChangeSignal {
  const channel = openChannel(path)
  let woken = false
  let waiting: (() => void) | null = null
  const wake = (): void => {
    if (waiting) waiting()
    else woken = true
  }
  channel.onmessage = wake
  return {
    notify: wake,
    stop: () => channel.close(),
    async wait(signal) {
      if (!woken && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const done = () => resolve()
        waiting = done
        signal.addEventListener('abort', done, { once: true })
        await promise
        signal.removeEventListener('abort', done)
      }
      waiting = null
      woken = false
    },
  }
}
