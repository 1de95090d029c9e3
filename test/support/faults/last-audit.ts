import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { waitUntil } from '../e2e/server.ts'
import { type Audit, audit, eventsOf } from '../oracle/oracle.ts'

export interface LastAudit extends Audit {
  readonly events: readonly RecordedEvent[]
  /** The instant (ms) by which due work was done; what falls due later is not held against the platform. */
  readonly dueMs: number
}

/** Audits a workspace until nothing is open, or for `settleMs`; resolves to the last audit. Work is done if it is due by `dueBy` (ms). */
export async function auditUntilDone(
  log: EventLog,
  workspaceId: string,
  acknowledged: Iterable<string>,
  settleMs: number,
  dueBy: () => number = Date.now,
): Promise<LastAudit> {
  const look = async (): Promise<LastAudit> => {
    const dueMs = dueBy()
    const events = await eventsOf(log, workspaceId)
    return { events, dueMs, ...audit(events, acknowledged, dueMs) }
  }
  let last = await look()
  const isDone = async () => {
    last = await look()
    return last.open.length === 0
  }
  await waitUntil('Nothing is open', isDone, settleMs).catch(() => undefined)
  return last
}
