import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { type EventLog, START } from '../../../src/ports/event-log.ts'
import { capRule } from './cap-rules.ts'
import { walletRule } from './money.ts'
import { offerRule } from './offer-rules.ts'
import { capNoticeRule, noDialAfterEndRule, onceRule } from './once-rules.ts'
import { createOpenWork } from './open-work.ts'
import { promiseRule } from './promise-rule.ts'

/** Every event of a workspace, in log order. */
export async function eventsOf(log: EventLog, workspaceId: string): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for (let after = START, end = false; !end; ) {
    const page = await log.readAll(after, 5_000)
    events.push(...page.events.filter(({ meta }) => meta.workspaceId === workspaceId))
    after = page.position
    end = page.end
  }
  return events
}

/** A second opinion on the log of one workspace, from the documents and without the product's rules. */
export function createOracle() {
  const rules = [capRule(), onceRule(), noDialAfterEndRule(), capNoticeRule(), walletRule(), offerRule(), promiseRule()]
  const work = createOpenWork()
  return {
    /** Takes in the next event; a sentence for each rule that it breaks. */
    see(event: RecordedEvent): readonly string[] {
      work.apply(event)
      return rules.flatMap((rule) => rule.see(event))
    },
    calls: work.calls,
    open: work.open,
    /** Acknowledged calls that the log does not hold. */
    lost: (acknowledged: Iterable<string>): readonly string[] =>
      [...acknowledged]
        .filter((callId) => !work.calls.has(callId))
        .map((callId) => `${callId} was acknowledged and is lost`),
  }
}
export type Oracle = ReturnType<typeof createOracle>

/** What the log of a workspace shows. */
export interface Audit {
  readonly calls: number
  /** A sentence for each rule that was broken. */
  readonly violations: readonly string[]
  /** A sentence for everything that is still to be done: empty once all that is due has been done. */
  readonly open: readonly string[]
}

/** Judges the events of a workspace, from its first on. `now` (ms) is the instant by which due work is done. */
export function audit(events: readonly RecordedEvent[], acknowledged: Iterable<string>, now: number): Audit {
  const oracle = createOracle()
  const broken = events.flatMap(oracle.see)
  return { calls: oracle.calls.size, violations: [...broken, ...oracle.lost(acknowledged)], open: oracle.open(now) }
}
