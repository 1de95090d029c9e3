import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { ReadStore } from '../ports/read-store.ts'
import { createLogEndBefore, furthestOf } from '../runtime/log-end.ts'
import { isLaneKey } from '../runtime/ownership/lane.ts'
import { readReactionPositions } from '../runtime/reactions/reaction-checkpoint.ts'
import { ConfigurationError } from './config.ts'

/** What has been made of a log, and the log. */
export interface OlderLogPorts {
  readonly log: Pick<EventLog, 'head' | 'readAll'>
  readonly store: Pick<ReadStore, 'checkpoints'>
  readonly ops: Pick<OperationalStore, 'list'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Refuses a log that ends before what the read models and the reactions have read: they would wait for what is lost, and pass over
 * what is appended in its place. Writes nothing. @throws ConfigurationError of one sentence; LogUnavailable, StoreUnavailable
 */
export async function refuseOlderLog({ log, store, ops, clock }: OlderLogPorts): Promise<void> {
  // The log last: other running processes append events and move checkpoints meanwhile.
  const checkpoints = Object.entries(await store.checkpoints()).filter(([name]) => isLaneKey(name))
  const reactions = await readReactionPositions(ops, null, clock.now())
  const readers = [
    ['the read models were built', furthestOf(checkpoints.map(([, reached]) => reached))],
    ['the reactions have read', furthestOf(reactions.values())],
  ] as const
  const endBefore = createLogEndBefore(log)
  for (const [readTo, furthest] of readers) {
    const end = await endBefore(furthest)
    if (end === null) continue
    throw new ConfigurationError(
      `The event log ends at position ${end}, and ${readTo} to position ${furthest}: this log is older than the read store, or another one. Restore the newer log, or name an empty read store.`,
    )
  }
}
