import { backOffMs } from '../kernel/async/backoff.ts'
import { sleep } from '../kernel/async/sleep.ts'
import { parseStreamName } from '../kernel/entity.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'

/** Is told that something was recorded, and up to which position of the log. */
export type Listener = (position: number) => void

/** What is recorded, fanned out from one reading of the log for all that watch. */
export interface ChangeNotifier {
  /** Tells from now on of what is recorded for a workspace; the answer ends it. */
  readonly subscribe: (workspaceId: string, told: Listener) => () => void
  readonly close: () => void
}

/**
 * Follows the log for as long as somebody watches. Events of the streams of `own` concern their workspace, those of `all`
 * everybody. A log that is away is followed on from where it was: nothing is left out.
 */
export function createChangeNotifier(options: {
  readonly log: Pick<EventLog, 'follow' | 'head'>
  readonly clock: Clock
  readonly own: ReadonlySet<string>
  readonly all: ReadonlySet<string>
}): ChangeNotifier {
  const { log, clock, own, all } = options
  const watching = new Map<string, Set<Listener>>()
  let following: AbortController | null = null

  const tell = (event: RecordedEvent) => {
    const { category } = parseStreamName(event.stream)
    const heard = all.has(category)
      ? [...watching.values()].flatMap((each) => [...each])
      : own.has(category)
        ? (watching.get(event.meta.workspaceId ?? '') ?? [])
        : []
    for (const told of heard) told(event.position)
  }

  async function follow(signal: AbortSignal): Promise<void> {
    let after: number | null = null
    for (let failures = 0; !signal.aborted; ) {
      try {
        if (after === null) {
          after = await log.head()
          // Whoever looked before this reading began may have missed something.
          for (const each of watching.values()) for (const told of each) told(after)
        }
        for await (const page of log.follow(after, signal)) {
          after = page.position
          failures = 0
          for (const event of page.events) tell(event)
        }
      } catch {
        failures += 1
        await sleep(clock, backOffMs(failures), signal)
      }
    }
  }

  const stop = () => {
    following?.abort()
    following = null
  }

  return {
    subscribe(workspaceId, told) {
      const mine = watching.get(workspaceId) ?? new Set()
      watching.set(workspaceId, mine.add(told))
      if (following === null) {
        following = new AbortController()
        void follow(following.signal)
      }
      return () => {
        mine.delete(told)
        if (mine.size === 0 && watching.get(workspaceId) === mine) watching.delete(workspaceId)
        if (watching.size === 0) stop()
      }
    },
    close: stop,
  }
}
