import { LRUCache } from 'lru-cache'
import type { CallsExportBatch, CallsExportRequest, ExportBatchRequest } from '../../../queries/calls/calls-export.ts'

/** Maximum number of files with a prefetched batch; the least recently served file is dropped first. */
const MAX_FILES = 8

interface PrefetchedBatch {
  readonly belowMs: number
  readonly lines: Promise<CallsExportBatch>
}

/** Resolves after the current reply was sent: replies leave at the end of the event-loop turn that made them. */
const afterReply = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

/** Prefetches the batch after the requested one while the reply travels, so that the next request of the file waits less. */
export function withPrefetch(
  make: (ask: CallsExportRequest) => Promise<CallsExportBatch>,
): (ask: ExportBatchRequest) => Promise<CallsExportBatch> {
  const prefetched = new LRUCache<string, PrefetchedBatch>({ max: MAX_FILES })
  return async ({ file, ...ask }) => {
    const ahead = prefetched.get(file)
    prefetched.delete(file)
    const lines = await (ahead?.belowMs === ask.belowMs ? ahead.lines : make(ask))
    const { belowMs, rows } = lines
    if (belowMs === null) return lines
    const next = afterReply().then(() => make({ ...ask, belowMs, most: ask.most - rows }))
    // The request that uses the batch gets its failure; without one, nothing handles the rejection.
    next.catch(() => undefined)
    prefetched.set(file, { belowMs, lines: next })
    return lines
  }
}
