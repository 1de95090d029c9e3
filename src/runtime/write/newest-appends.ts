import type { RecordedEvent } from '../../kernel/event.ts'
import { type EventLog, START } from '../../ports/event-log.ts'

/** Position of the newest event of some types that this process has appended; START when there is none. */
export type NewestAppends = (types: readonly string[]) => number

/** Decorates a log: remembers the newest position of each type of event that is appended through it. */
export function withNewestAppends(log: EventLog): {
  readonly log: EventLog
  readonly newestOf: NewestAppends
  /** Adds what another process appended for this one. */
  readonly add: (events: readonly Pick<RecordedEvent, 'type'>[], position: number) => void
} {
  const newest = new Map<string, number>()
  const add = (events: readonly Pick<RecordedEvent, 'type'>[], position: number) => {
    for (const { type } of events) newest.set(type, Math.max(newest.get(type) ?? START, position))
  }
  return {
    log: {
      ...log,
      async append(stream, expected, events) {
        const result = await log.append(stream, expected, events)
        if (result.ok) add(events, result.position)
        return result
      },
    },
    add,
    newestOf: (types) => types.reduce((position, type) => Math.max(position, newest.get(type) ?? START), START),
  }
}
