import { LogUnavailable } from '../../ports/event-log.ts'
import type { ReadMessage } from './responses.ts'
import type { ReadOptions, StreamsService } from './streams-service.ts'

/** Error of a call that the server did not answer in time. */
export function silenceError(deadline: number): LogUnavailable {
  return new LogUnavailable(`EventStoreDB does not respond: silent for ${deadline} ms`)
}

/** Converts an error of a call to LogUnavailable: it is unknown whether the call had an effect. */
export function toUnavailable(error: unknown): LogUnavailable {
  if (error instanceof LogUnavailable) return error
  const reason = error instanceof Error ? error.message || error.constructor.name : String(error)
  return new LogUnavailable(`EventStoreDB does not respond: ${reason}`, { cause: error })
}

/**
 * Reads, and retries once at once: after a server restart the pooled channel fails its first call, and the client then opens
 * a new one. Silence is not retried.
 * @throws LogUnavailable
 */
export async function withReadRetry<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof LogUnavailable) throw error
  }
  try {
    return await read()
  } catch (error) {
    throw toUnavailable(error)
  }
}

/** Messages of one read; `isPartial` when it ran out of time before its end. */
export interface ReadBatch {
  readonly messages: readonly ReadMessage[]
  readonly isPartial: boolean
}

/**
 * Collects a read within a deadline (ms). After half of it, what has arrived is the result, so that large events never starve
 * a reader.
 * @throws LogUnavailable when the server stays silent until the deadline; an error of the call
 */
export async function collect(
  service: StreamsService,
  request: Buffer,
  deadline: number,
  options?: ReadOptions,
): Promise<ReadBatch> {
  const call = await service.read(request, options)
  const messages: ReadMessage[] = []
  const { promise, resolve, reject } = Promise.withResolvers<ReadBatch>()
  const timer = setTimeout(() => reject(silenceError(deadline)), deadline)
  const until = performance.now() + deadline / 2
  call.onData((message) => {
    messages.push(message)
    if (performance.now() > until) resolve({ messages, isPartial: true })
  })
  call.onEnd((error) => (error ? reject(error) : resolve({ messages, isPartial: false })))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    call.cancel()
  }
}
