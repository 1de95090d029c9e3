import type { EventLog } from '../../../src/ports/event-log.ts'
import { buildNames } from '../../../src/runtime/projections/build-names.ts'
import { audit, eventsOf } from '../faults/audit.ts'
import { project } from '../fixtures/project.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import type { MemoryReadStore } from '../memory/read-store.ts'
import { answerViolations } from './answers.ts'
import { countersBroken, recordingsBroken, rowsBroken, storiesBroken, usageBroken } from './books.ts'
import { type SimulatedProcess, simulatedProjections } from './process.ts'

/** What a run has left. */
export interface FinishedRun {
  readonly log: EventLog
  readonly views: MemoryReadStore
  /** Calls whose arrival was acknowledged to the carrier. */
  readonly acknowledged: Iterable<string>
  /** Calls of which the carrier told that it has a recording, and was heard. */
  readonly recorded: ReadonlySet<string>
  /** Calls that the carrier still has on the line. */
  readonly liveCalls: number
  readonly now: number
  /** Asks a process that is left. */
  readonly ask: SimulatedProcess['ask']
}

/** Read models that are not what a rebuild makes of the log. */
async function rebuildDifferences({ log, views }: FinishedRun): Promise<readonly string[]> {
  const events = await eventsOf(log, WORKSPACE)
  const compared = simulatedProjections.map(async (projection) => {
    const [kept, rebuilt] = [views.all(buildNames(projection).collection), await project(projection, events)]
    return JSON.stringify(kept) === JSON.stringify(rebuilt) ? [] : [`${projection.name} is not what a rebuild makes`]
  })
  return (await Promise.all(compared)).flat()
}

/** Judges a run that has come to rest: one sentence for each rule that was broken. */
export async function auditRun(left: FinishedRun): Promise<readonly string[]> {
  const { log, views, acknowledged, recorded, liveCalls, now, ask } = left
  const events = await eventsOf(log, WORKSPACE)
  const { broken, open } = audit(events, [], acknowledged, now)
  const lines = liveCalls > 0 ? [`${liveCalls} calls are still on the line`] : []
  return [
    ...broken,
    ...open,
    ...lines,
    ...usageBroken(events),
    ...countersBroken(events),
    ...rowsBroken(events, views),
    ...storiesBroken(events, views),
    ...recordingsBroken(events, views, recorded),
    ...(await answerViolations(ask, events, now)),
    ...(await rebuildDifferences(left)),
  ]
}
