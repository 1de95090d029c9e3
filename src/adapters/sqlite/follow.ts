import { setTimeout as pause } from 'node:timers/promises'
import { type LogPage, LogUnavailable } from '../../ports/event-log.ts'
import type { ChangeSignal } from './change-signal.ts'

const RETRY_MS = 100
const MAX_RETRY_MS = 2_000

/** What following needs of a log. */
export interface FollowSource {
  readonly readAll: (after: number) => Promise<LogPage>
  /** A fresh listener to the log's writes. */
  readonly listen: () => ChangeSignal
  /** Aborted when the log is closed. */
  readonly closed: AbortSignal
}

/** Pages with events behind `after` for ever; a log that is away is asked again after a while. Ends at the signal, or when the log is closed. */
export async function* follow(
  { readAll, listen, closed }: FollowSource,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<LogPage> {
  const over = AbortSignal.any([signal, closed])
  const wake = listen()
  let position = after
  let retry = RETRY_MS
  try {
    while (!over.aborted) {
      const page = await readAll(position).catch(nullIfUnavailable)
      if (over.aborted) return
      if (!page) {
        await pause(retry, null, { signal: over, ref: false }).catch(() => null)
        retry = Math.min(retry * 2, MAX_RETRY_MS)
        continue
      }
      retry = RETRY_MS
      if (page.position > position) {
        position = page.position
        yield page
      }
      if (page.end) await wake.wait(over)
    }
  } finally {
    wake.stop()
  }
}

function nullIfUnavailable(error: unknown): null {
  if (error instanceof LogUnavailable) return null
  throw error
}
