import { setTimeout as sleep } from 'node:timers/promises'
import { backOffMs } from '../../kernel/async/backoff.ts'
import { type LogPage, LogUnavailable } from '../../ports/event-log.ts'
import type { ChangeSignal } from './change-signal.ts'

const BACK_OFF = { firstMs: 100, maxMs: 2_000 }

/** The log that is followed. */
export interface FollowSource {
  readonly readAll: (after: number) => Promise<LogPage>
  /** Opens a new signal of the log's writes. */
  readonly listen: () => ChangeSignal
  /** Aborted when the log is closed. */
  readonly closed: AbortSignal
}

/** Yields pages of events after `after` until the signal or the log's close. Retries with a back-off while the log is unavailable. */
export async function* follow(
  { readAll, listen, closed }: FollowSource,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<LogPage> {
  const end = AbortSignal.any([signal, closed])
  const changes = listen()
  let position = after
  let failures = 0
  try {
    while (!end.aborted) {
      const page = await readAll(position).catch(nullIfUnavailable)
      if (end.aborted) return
      if (!page) {
        failures += 1
        await sleep(backOffMs(failures, BACK_OFF), null, { signal: end, ref: false }).catch(() => null)
        continue
      }
      failures = 0
      if (page.position > position) {
        position = page.position
        yield page
      }
      if (page.end) await changes.wait(end)
    }
  } finally {
    changes.stop()
  }
}

function nullIfUnavailable(error: unknown): null {
  if (error instanceof LogUnavailable) return null
  throw error
}
