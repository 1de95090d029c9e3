import { setImmediate } from 'node:timers/promises'
import { ErrorType, isCommandError, type StreamingRead } from '@eventstore/db-client'
import { LogUnavailable } from '../../ports/event-log.ts'

/** Whether an error of the client has the type. Some have no message, so only types are compared. */
export function isErrorOfType(error: unknown, type: ErrorType): boolean {
  return error instanceof Error && isCommandError(error) && error.type === type
}

/** Converts an error of the client to LogUnavailable: it is unknown whether the call had an effect. */
export function toUnavailable(error: unknown): LogUnavailable {
  if (error instanceof LogUnavailable) return error
  const reason = error instanceof Error ? error.message || error.constructor.name : String(error)
  return new LogUnavailable(`EventStoreDB does not respond: ${reason}`, { cause: error })
}

/**
 * Reads, and retries once at once: after a server restart the pooled channel fails its first call, and the client then opens
 * a new one.
 * @throws LogUnavailable
 */
export async function withReadRetry<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof LogUnavailable) throw error
    // The client swaps its channel in the microtasks behind the failure.
    await setImmediate()
  }
  try {
    return await read()
  } catch (error) {
    throw toUnavailable(error)
  }
}

/** Events of one read; `isPartial` when the read ran out of time before its end. */
export interface ReadBatch<Event> {
  readonly events: readonly Event[]
  readonly isPartial: boolean
}

/**
 * Collects a streaming read within a deadline (ms), which the client itself ignores. After half of it, it returns what has
 * arrived, so that large events never starve a reader.
 * @throws LogUnavailable when the server stays silent until the deadline
 */
export async function collect<Event>(stream: StreamingRead<Event>, deadline: number): Promise<ReadBatch<Event>> {
  // The client may emit an error after the iteration has ended; without a listener it would end the process.
  stream.on('error', () => {})
  const silence = new LogUnavailable(`EventStoreDB does not respond: silent for ${deadline} ms`)
  const timer = setTimeout(() => stream.destroy(silence), deadline)
  const until = performance.now() + deadline / 2
  const events: Event[] = []
  try {
    for await (const event of stream) {
      events.push(event)
      if (performance.now() > until) return { events, isPartial: true }
    }
    return { events, isPartial: false }
  } catch (error) {
    if (isErrorOfType(error, ErrorType.STREAM_NOT_FOUND)) return { events: [], isPartial: false }
    throw error
  } finally {
    clearTimeout(timer)
    stream.cancel().catch(() => {})
  }
}
