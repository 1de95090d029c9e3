import { lastUseKey, redactRequest, requestLabels, requestSeries } from '../domain/access/request-log.ts'
import { REQUEST_LOG } from '../domain/shared/limits.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'
import type { AnsweredRequest, RequestLog } from '../ports/request-log.ts'
import { createBatchWriter } from './batch-writer.ts'

const BATCH_SIZE = 500
/** Maximum requests pending while the store is unavailable; beyond it the oldest are dropped. */
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

/** Dependencies of the request log. */
export interface RequestLogOptions {
  readonly ops: Pick<OperationalStore, 'appendLog' | 'put'>
  readonly clock: Clock
  readonly random: Random
  /** Receives the number of requests lost, and the last error of the store. */
  readonly onLost?: (count: number, error: unknown) => void
}

/** Appends a batch of requests, and puts the time at which each key was last used. @throws StoreUnavailable */
async function writeBatch(ops: RequestLogOptions['ops'], batch: readonly PendingRequest[]): Promise<void> {
  await ops.appendLog(batch.map(logRecordOf))
  const lastUses = new Map(batch.map(({ at, request }) => [request.keyId, at]))
  await Promise.all([...lastUses].map(([keyId, at]) => ops.put(lastUseKey(keyId), at, null)))
}

/** Pending requests, oldest first. */
function createPendingQueue({ ops, onLost = () => {} }: Pick<RequestLogOptions, 'ops' | 'onLost'>) {
  let pending: PendingRequest[] = []
  let lastError: unknown = null
  return {
    isEmpty: () => pending.length === 0,
    /** Adds a request; drops the oldest when there are more than `MAX_PENDING`. */
    add(request: PendingRequest): void {
      pending.push(request)
      if (pending.length <= MAX_PENDING) return
      const lost = pending.length - MAX_PENDING / 2
      pending = pending.slice(lost)
      onLost(lost, lastError)
    },
    /** Writes pending requests until none is left or the store fails. Resolves to whether none is left. */
    async write(): Promise<boolean> {
      while (pending.length > 0) {
        const batch = pending.slice(0, BATCH_SIZE)
        try {
          await writeBatch(ops, batch)
        } catch (error) {
          lastError = error
          return false
        }
        const written = new Set(batch)
        pending = pending.filter((request) => !written.has(request))
      }
      return true
    },
    /** Reports the pending requests as lost. */
    reportLost: () => onLost(pending.length, lastError),
  }
}

/** Creates the log of API keys' requests in the operational store: written in batches, outside of the requests. */
export function createRequestLog({ clock, random, ...options }: RequestLogOptions): RequestLog {
  const queue = createPendingQueue(options)
  const writer = createBatchWriter({ clock, write: queue.write, isEmpty: queue.isEmpty })
  return {
    add(request) {
      queue.add({ id: random.uuid(), at: clock.now(), request })
      writer.schedule()
    },
    flush: writer.flush,
    async close() {
      if (!(await writer.close())) queue.reportLost()
    },
  }
}
