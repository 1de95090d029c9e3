import { callLog } from '../../../projections/calls/call-log.ts'
import { callRecordings } from '../../../projections/calls/call-recordings.ts'
import { callStory } from '../../../projections/calls/call-story.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { AnyProjection } from '../../../src/kernel/projection.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { buildNames } from '../../../src/runtime/projections/build-names.ts'
import { project } from '../fixtures/project.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import type { MemoryReadStore } from '../memory/read-store.ts'
import { ledgerMoneyViolations, usageViolations } from '../oracle/money.ts'
import { eventsOf, type Oracle } from '../oracle/oracle.ts'
import { recordingViolations, rowViolations, storyViolations } from '../oracle/read-models.ts'
import { answerViolations } from './answers.ts'
import { type SimulatedProcess, simulatedProjections } from './process.ts'

/** What a run has left behind. */
export interface FinishedRun {
  readonly log: EventLog
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
  /** Sends a query to a process that is still alive. */
  readonly ask: SimulatedProcess['ask']
}

/** Read models that differ from what a rebuild makes of the log. */
async function rebuildDifferences(
  views: MemoryReadStore,
  events: readonly RecordedEvent[],
): Promise<readonly string[]> {
  const compared = simulatedProjections.map(async (projection) => {
    const [stored, rebuilt] = [documentsOf(views, projection), await project(projection, events)]
    return JSON.stringify(stored) === JSON.stringify(rebuilt) ? [] : [`${projection.name} differs from its rebuild`]
  })
  return (await Promise.all(compared)).flat()
}

const documentsOf = (views: MemoryReadStore, projection: AnyProjection) => views.all(buildNames(projection).collection)

/** Judges a run in which nothing is left to do: a sentence for each rule that was broken. */
export async function auditRun(run: FinishedRun): Promise<readonly string[]> {
  const { log, views, oracle, acknowledged, recorded, liveCalls, now, ask } = run
  const events = await eventsOf(log, WORKSPACE)
  return [
    ...oracle.lost(acknowledged),
    ...oracle.open(now),
    ...(liveCalls > 0 ? [`${liveCalls} calls are still on the line`] : []),
    ...usageViolations(events),
    ...ledgerMoneyViolations(events),
    ...rowViolations(events, documentsOf(views, callLog)),
    ...storyViolations(events, documentsOf(views, callStory)),
    ...recordingViolations(events, documentsOf(views, callRecordings), recorded),
    ...(await answerViolations(ask, events, now)),
    ...(await rebuildDifferences(views, events)),
  ]
}
