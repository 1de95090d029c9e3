import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { type EventLog, LogUnavailable } from '../../../src/ports/event-log.ts'
import { freshStream, someEvent } from '../fixtures/events.ts'

/** Deadline of the adapter's calls (ms). */
export const DEADLINE_MS = 300
/** How much later than its deadline a busy machine may notice an append. */
const SLACK_MS = 2_000
const WRITERS = 32
const KIND = 'thing'

interface Acknowledged {
  readonly stream: string
  readonly revision: number
  readonly id: string
}

/** What writers saw: the appends that were acknowledged, how many failed, and how long the longest took. */
interface Outcome {
  readonly acknowledged: readonly Acknowledged[]
  readonly failed: number
  readonly longestMs: number
}

/** Appends one event after the other on a stream for each writer. After a failure the writer reads where its stream is. */
async function appendDuring(log: EventLog, faults: () => Promise<void>): Promise<Outcome> {
  const acknowledged: Acknowledged[] = []
  let failed = 0
  let longestMs = 0
  let isOver = false
  const append = async (stream: string, expected: number) => {
    const event = someEvent({ text: 'x'.repeat(200) })
    const begun = performance.now()
    try {
      const result = await log.append(stream, expected, [event])
      if (result.ok) acknowledged.push({ stream, revision: result.revision, id: event.meta.eventId })
      return result.ok
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error
      failed += 1
      return false
    } finally {
      longestMs = Math.max(longestMs, performance.now() - begun)
    }
  }
  const write = async () => {
    const stream = freshStream(KIND)
    for (let revision = -1; !isOver; ) {
      if (await append(stream, revision)) revision += 1
      else revision += (await retryUntilAnswered(() => log.read(stream, revision + 1))).length
    }
  }
  const writers = Array.from({ length: WRITERS }, write)
  await faults()
  isOver = true
  await Promise.all(writers)
  return { acknowledged, failed, longestMs }
}

/** Expects that every append ended in time and that the log has each acknowledged event where it was acknowledged. */
export async function expectNothingLost(log: EventLog, { acknowledged, failed, longestMs }: Outcome): Promise<void> {
  expect(longestMs).toBeLessThan(DEADLINE_MS + SLACK_MS)
  expect(acknowledged.length).toBeGreaterThan(WRITERS)
  expect(failed).toBeGreaterThan(0)
  for (const [stream, ours] of Map.groupBy(acknowledged, (event) => event.stream)) {
    const stored = await log.read(stream, 0, 100_000)
    expect(stored.map(({ revision }) => revision)).toEqual(stored.map((_, n) => n))
    expect(ours.map(({ revision }) => stored[revision]?.meta.eventId)).toEqual(ours.map(({ id }) => id))
  }
}

/** Follows the events of a kind of stream meanwhile; resolves to those seen up to the newest one, when the work is done. */
async function followDuring(log: EventLog, work: () => Promise<void>): Promise<readonly RecordedEvent[]> {
  const before = await retryUntilAnswered(() => log.head())
  const seen: RecordedEvent[] = []
  let newest = Number.POSITIVE_INFINITY
  const stop = new AbortController()
  const following = (async () => {
    for await (const page of log.follow(before, stop.signal, { kinds: new Set([KIND]) })) {
      seen.push(...page.events)
      if (page.position >= newest) stop.abort()
    }
  })()
  await work()
  newest = await retryUntilAnswered(() => log.head())
  // What wakes a follower that was there already.
  await retryUntilAnswered(() => log.append(freshStream(KIND), -1, [someEvent()]))
  await following
  return seen
}

/** Appends during faults, while a follower reads along. */
export async function appendAndFollow(log: EventLog, faults: () => Promise<void>) {
  let outcome: Outcome = { acknowledged: [], failed: 0, longestMs: 0 }
  const seen = await followDuring(log, async () => {
    outcome = await appendDuring(log, faults)
  })
  return { seen, outcome }
}

/** Expects that a follower has seen every acknowledged event, in order and once. */
export function expectFollowed(seen: readonly RecordedEvent[], { acknowledged }: Outcome): void {
  const positions = seen.map(({ position }) => position)
  expect(positions).toEqual([...new Set(positions)].sort((one, other) => one - other))
  const ids = new Set(seen.map(({ meta }) => meta.eventId))
  expect(acknowledged.filter(({ id }) => !ids.has(id))).toEqual([])
}

/** Repeats a call of a log until it is answered. @throws LogUnavailable after a minute */
export async function retryUntilAnswered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  const until = performance.now() + 60_000
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof LogUnavailable) || performance.now() > until) throw error
      await wait(20)
    }
  }
}
