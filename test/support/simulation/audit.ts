import { callLog } from '../../../projections/calls/call-log.ts'
import { callRecordings } from '../../../projections/calls/call-recordings.ts'
import { callStory } from '../../../projections/calls/call-story.ts'
import { deliveries } from '../../../projections/delivery/deliveries.ts'
import { webhookCounters } from '../../../projections/delivery/webhook-counters.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { AnyProjection } from '../../../src/kernel/projection.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { readActiveCollections } from '../../../src/runtime/projections/build-alias.ts'
import { project } from '../fixtures/project.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import type { MemoryReadStore } from '../memory/read-store.ts'
import { counterViolations, deliveryLogViolations } from '../oracle/deliveries.ts'
import { logCheckViolations } from '../oracle/log-checks.ts'
import { ledgerMoneyViolations, usageViolations } from '../oracle/money.ts'
import { endedRepeats, missedRepeats, type SeenAnswer, sharedNumbers } from '../oracle/offers-at-hand.ts'
import { eventsOf, type Oracle } from '../oracle/oracle.ts'
import { partitionViolations } from '../oracle/partitions.ts'
import { recordingViolations, rowViolations, storyViolations } from '../oracle/read-models.ts'
import { answerViolations } from './answers.ts'
import { asCurrent, type CodeVersion, NEXT_FIELD } from './code-version.ts'
import type { SimulatedProcess } from './process.ts'
import type { ReceivedRequest } from './receivers.ts'
import type { SimulatedEndpoint } from './world.ts'

/** What a run has left behind. */
export interface FinishedRun {
  readonly log: EventLog
  /** The version that is left. */
  readonly code: CodeVersion
  /** The read models that were projected. */
  readonly simulated: readonly AnyProjection[]
  readonly views: MemoryReadStore
  /** The oracle, which has seen every event. */
  readonly oracle: Pick<Oracle, 'lost' | 'open'>
  /** Calls whose arrival was acknowledged to the carrier. */
  readonly acknowledged: Iterable<string>
  /** Calls whose recording the carrier reported successfully. */
  readonly recorded: ReadonlySet<string>
  /** Number of calls that the carrier still has on the line. */
  readonly liveCalls: number
  readonly now: number
  readonly endpoints: readonly SimulatedEndpoint[]
  /** What the receivers of the endpoints got. */
  readonly received: readonly ReceivedRequest[]
  /** Whether one process did everything, and nothing failed. */
  readonly inOrder: boolean
  /** Answers to pings that publishers have seen; null where the clocks of the processes differ. */
  readonly answers: readonly SeenAnswer[] | null
  /** Sends a query to a process that is still alive. */
  readonly ask: SimulatedProcess['ask']
}

type Documents = ReturnType<MemoryReadStore['all']>

/** Read models that differ from what a rebuild makes of the log. */
async function rebuildDifferences(
  documentsOf: (name: string) => Documents,
  simulated: readonly AnyProjection[],
  events: readonly RecordedEvent[],
): Promise<readonly string[]> {
  const compared = simulated.map(async (projection) => {
    const rebuilt = await project(projection, events)
    return JSON.stringify(documentsOf(projection.name)) === JSON.stringify(rebuilt)
      ? []
      : [`${projection.name} differs from its rebuild`]
  })
  return (await Promise.all(compared)).flat()
}

/** The documents of a read model without the mark of the next version. */
const unmarked = (documents: Documents): Documents =>
  Object.fromEntries(Object.entries(documents).map(([id, { [NEXT_FIELD]: _mark, ...doc }]) => [id, doc]))

/** Judges a run in which nothing is left to do: a sentence for each rule that was broken. */
export async function auditRun(run: FinishedRun): Promise<readonly string[]> {
  const { log, code, views, oracle, acknowledged, recorded, liveCalls, now, ask, answers } = run
  const { endpoints, received, inOrder } = run
  const events = (await eventsOf(log, WORKSPACE)).map(asCurrent)
  const collections = await readActiveCollections(views, code.projections)
  const documentsOf = (name: string) => views.all(collections.get(name) ?? '')
  return [
    ...oracle.lost(acknowledged),
    ...oracle.open(now),
    ...(liveCalls > 0 ? [`${liveCalls} calls are still on the line`] : []),
    ...(answers ? [...missedRepeats(events, answers), ...endedRepeats(events), ...sharedNumbers(events)] : []),
    ...partitionViolations(events),
    ...logCheckViolations(events, now),
    ...usageViolations(events),
    ...ledgerMoneyViolations(events),
    ...rowViolations(events, unmarked(documentsOf(callLog.name))),
    ...storyViolations(events, unmarked(documentsOf(callStory.name))),
    ...recordingViolations(events, unmarked(documentsOf(callRecordings.name)), recorded),
    ...deliveryLogViolations(events, endpoints, received, { inOrder }),
    ...counterViolations(events, documentsOf(webhookCounters.name), documentsOf(deliveries.name)),
    ...(await answerViolations(ask, events, now)),
    ...(await rebuildDifferences(documentsOf, run.simulated, events)),
  ]
}
