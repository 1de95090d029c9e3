import type { CallsExportBatch, CallsExportRequest, ExportBatchRequest } from '../../../queries/calls/calls-export.ts'

/** Files whose next batch is kept at most: one that nobody comes back for gives way to the others. */
const MAX_FILES = 8

interface PrefetchedBatch {
  readonly belowMs: number
  readonly lines: Promise<CallsExportBatch>
}

/** Once what is being answered has been sent: answers leave with the turn of the event loop that made them. */
const afterReply = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

/** Makes the batch behind the one that was asked for while that travels: who comes back for it waits for less. */
export function withPrefetch(
  make: (ask: CallsExportRequest) => Promise<CallsExportBatch>,
): (ask: ExportBatchRequest) => Promise<CallsExportBatch> {
  const kept = new Map<string, PrefetchedBatch>()
  return async ({ file, ...ask }) => {
    const ahead = kept.get(file)
    kept.delete(file)
    const lines = await (ahead?.belowMs === ask.belowMs ? ahead.lines : make(ask))
    const { belowMs, rows } = lines
    if (belowMs === null) return lines
    const next = afterReply().then(() => make({ ...ask, belowMs, most: ask.most - rows }))
    // Who never comes back hears of no failure.
    next.catch(() => undefined)
    kept.set(file, { belowMs, lines: next })
    const [oldest] = kept.keys()
    if (kept.size > MAX_FILES && oldest !== undefined) kept.delete(oldest)
    return lines
  }
}
