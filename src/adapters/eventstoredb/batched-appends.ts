import { randomUUID } from 'node:crypto'
import type { EventToAppend } from '../../kernel/event.ts'
import { type AppendResult, START } from '../../ports/event-log.ts'
import { silenceError, toUnavailable } from './calls.ts'
import { batchAppend } from './requests.ts'
import type { AppendResponse } from './responses.ts'
import type { BatchCall, StreamsService } from './streams-service.ts'

/** Bytes of one append, above which it is refused here: the server would end the whole batch over 16 MB. */
const MAX_BYTES = 4 * 1024 * 1024

interface PendingAppend {
  readonly resolve: (result: AppendResult) => void
  readonly reject: (error: Error) => void
  readonly tooLarge: () => Error
  readonly timer: NodeJS.Timeout
}

/** One call that takes many appends, and those that it has not answered. */
interface Batch {
  readonly call: Promise<BatchCall>
  readonly pending: Map<string, PendingAppend>
}

/** Appends to one stream at an expected revision. */
type Append = (stream: string, expected: number, events: readonly EventToAppend[]) => Promise<AppendResult>

/**
 * Appends over one call to the server, which answers each on its own: a fraction of the CPU of a call for each. An append
 * ends within the deadline (ms), with LogUnavailable when it is unknown whether it landed: the server was silent, or the
 * call broke. After a silence the next appends go over another call, and the silent one is cancelled once nothing waits for
 * it, so that what it has not sent is never sent.
 */
export function createBatchedAppends(service: StreamsService, deadline: number): Append {
  let current: Batch | null = null

  function retire(batch: Batch): void {
    if (current === batch) current = null
    if (batch.pending.size > 0) return
    batch.call.then(
      (call) => call.cancel(),
      () => {},
    )
  }

  /** Takes an append off its batch; undefined when it has ended already. */
  function take(batch: Batch, id: string): PendingAppend | undefined {
    const append = batch.pending.get(id)
    clearTimeout(append?.timer)
    batch.pending.delete(id)
    return append
  }

  function end(batch: Batch, error: unknown): void {
    for (const id of [...batch.pending.keys()]) take(batch, id)?.reject(toUnavailable(error))
    retire(batch)
  }

  function open(): Batch {
    const batch: Batch = { call: service.appendBatch(), pending: new Map() }
    batch.call.then(
      (call) => {
        call.onData((response) => {
          const append = take(batch, response.id)
          if (append) settle(append, response)
          if (batch !== current) retire(batch)
        })
        call.onEnd((error) => end(batch, error ?? new Error('the batch of appends ended')))
      },
      (error) => end(batch, error),
    )
    return batch
  }

  function giveUp(batch: Batch, id: string): void {
    take(batch, id)?.reject(silenceError(deadline))
    retire(batch)
  }

  return async (stream, expected, events) => {
    if (events.length === 0) throw new TypeError('An append must contain at least one event.')
    const id = randomUUID()
    const request = batchAppend({ id, stream, expected, events })
    const tooLarge = () =>
      new RangeError(`${events.length} events for ${stream} are larger than the maximum append of EventStoreDB.`)
    if (request.length > MAX_BYTES) throw tooLarge()
    current ??= open()
    const batch = current
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => giveUp(batch, id), deadline)
      batch.pending.set(id, { resolve, reject, tooLarge, timer })
      batch.call.then(
        (call) => {
          if (batch.pending.has(id)) call.write(request)
        },
        () => {},
      )
    })
  }
}

function settle({ resolve, reject, tooLarge }: PendingAppend, response: AppendResponse): void {
  if (response.error === null) resolve({ ok: true, revision: response.revision, position: response.position ?? START })
  else if (response.error === 'WrongExpectedVersion') resolve({ ok: false, conflict: true })
  else if (response.error === 'MaximumAppendSizeExceeded') reject(tooLarge())
  else reject(toUnavailable(new Error(response.message || response.error)))
}
