import { lastUseKey, redactRequest, requestLabels, requestSeries } from '../domain/access/request-log.ts'
import { REQUEST_LOG } from '../domain/shared/limits.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'
import type { AnsweredRequest, RequestLog } from '../ports/request-log.ts'

/** How long a request waits for others to be written with. */
const BATCH_MS = 250
const BATCH_SIZE = 500
/** What waits while the store is away; past it the oldest are lost. */
const MAX_PENDING = 20_000
const DAY_MS = 86_400_000

interface PendingRequest {
  readonly id: string
  readonly at: number
  readonly request: AnsweredRequest
}

function logRecordOf({ id, at, request }: PendingRequest) {
  const value = redactRequest(request)
  const expiresAt = at + REQUEST_LOG.days * DAY_MS
  return { series: requestSeries(request.keyId), id, at, labels: requestLabels(value), value, expiresAt }
}

/** Remembers requests of API keys, and when each key was last used, in the operational store: in batches, beside the requests. */
export function createRequestLog({
  ops,
  clock,
  random,
  onLost = () => {},
}: {
  readonly ops: Pick<OperationalStore, 'appendLog' | 'put'>
  readonly clock: Clock
  readonly random: Random
  /** Told how many were lost, and of what. */
  readonly onLost?: (count: number, error: unknown) => void
}): RequestLog {
  let waiting: PendingRequest[] = []
  let writing: Promise<void> | null = null
  let cancel: (() => void) | null = null
  let problem: unknown = null

  async function write(batch: readonly PendingRequest[]): Promise<void> {
    await ops.appendLog(batch.map(logRecordOf))
    const lastUses = new Map(batch.map(({ at, request }) => [request.keyId, at]))
    await Promise.all([...lastUses].map(([keyId, at]) => ops.put(lastUseKey(keyId), at, null)))
  }

  /** Writes what waits now; what cannot be written waits on. Says whether it could. */
  async function flush(): Promise<boolean> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_SIZE)
      try {
        await write(batch)
      } catch (error) {
        problem = error
        return false
      }
      const written = new Set(batch)
      waiting = waiting.filter((one) => !written.has(one))
    }
    return true
  }

  function later(): void {
    cancel ??= clock.schedule(clock.now() + BATCH_MS, () => {
      cancel = null
      writing ??= flush().then(() => {
        writing = null
        if (waiting.length > 0) later()
      })
    })
  }

  return {
    add(request) {
      waiting.push({ id: random.uuid(), at: clock.now(), request })
      if (waiting.length > MAX_PENDING) {
        const lost = waiting.length - MAX_PENDING / 2
        waiting = waiting.slice(lost)
        onLost(lost, problem)
      }
      later()
    },
    async flush() {
      await writing
      writing ??= flush().then(() => {
        writing = null
      })
      await writing
    },
    async close() {
      cancel?.()
      await writing
      if (!(await flush())) onLost(waiting.length, problem)
      cancel?.()
    },
  }
}
