import { setImmediate } from 'node:timers/promises'
import { ErrorType, isCommandError, type StreamingRead } from '@eventstore/db-client'
import { LogUnavailable } from '../../ports/event-log.ts'

/** Whether the client's error is of that type. The message of some is empty, so only types are compared. */
export function isErrorOfType(error: unknown, type: ErrorType): boolean {
  return error instanceof Error && isCommandError(error) && error.type === type
}

/** The port's error for whatever the client threw: nobody knows whether the call had an effect. */
export function toUnavailable(error: unknown): LogUnavailable {
  if (error instanceof LogUnavailable) return error
  const reason = error instanceof Error ? error.message || error.constructor.name : String(error)
  return new LogUnavailable(`EventStoreDB does not answer: ${reason}`, { cause: error })
}

/**
 * Reads, and once more at once if that fails: after a server restart the pooled channel fails its first call, which makes
 * the client open another.
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

/** What a read brought; `cut` when it stopped early for lack of time, with more to come. */
export interface Batch<Event> {
  readonly events: readonly Event[]
  readonly isPartial: boolean
}

/**
 * Collects a streaming read, whose deadline (ms) the client does not keep. At half of it it stops with what it has, so
 * that large events never starve a reader.
 */
export async function collect<Event>(stream: StreamingRead<Event>, deadline: number): Promise<Batch<Event>> {
  // The client may still emit an error when nobody iterates any more; unheard it would end the process.
  stream.on('error', () => {})
  const silence = new LogUnavailable(`EventStoreDB does not answer: silent for ${deadline} ms`)
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
