import { isKnownVersion, versionOf } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { unknownVersionProblem } from '../lanes/running-lane.ts'
import {
  deleteParked,
  endRequest,
  listRequests,
  type ParkedAction,
  type ParkedStream,
  parkedIdOf,
  putParked,
} from './parked-streams.ts'
import type { LaneParkedStream, ReactionLane } from './reaction-lane.ts'
import { runStep, type StepEnd, type StepPorts } from './run-step.ts'

const PAGE = 100

export interface ResumePorts<Tools> extends StepPorts<Tools> {
  readonly log: Pick<EventLog, 'read'>
  readonly ops: OperationalStore
}

/** The entry of a stream parked at an event. `waiting`: later events of the stream that have been read. */
export function parkedEntry(
  reaction: string,
  event: RecordedEvent,
  failure: Exclude<StepEnd, string>,
  { at, waiting }: { readonly at: string; readonly waiting: number },
): ParkedStream {
  const { stream, type, position, revision, meta } = event
  const { attempts, problem } = failure
  const id = parkedIdOf(reaction, event)
  return {
    id,
    reaction,
    stream,
    workspaceId: meta.workspaceId,
    type,
    position,
    revision,
    at,
    attempts,
    problem,
    waiting,
  }
}

/**
 * Processes the events of a parked stream from a revision on, in order, up to those that have been read. Resolves to
 * whether it came to the end: if not, the stream is parked at the event that failed, or the term of the lane has ended.
 */
async function replay<Tools>(
  ports: ResumePorts<Tools>,
  lane: ReactionLane<Tools>,
  parked: LaneParkedStream,
  from: number,
): Promise<boolean> {
  const { reaction, term } = lane
  const { log, upcasts, clock, ops } = ports
  const { stream } = parked.entry
  for (let revision = from; ; ) {
    const until = parked.seen
    const events = (await log.read(stream, revision, PAGE)).filter(({ position }) => position <= until)
    if (lane.term !== term) return false
    if (events.length === 0 && parked.seen === until) return true
    for (const event of events) {
      revision = event.revision + 1
      if (reaction.on[event.type] === undefined) continue
      if (!isKnownVersion({ upcasts }, event)) {
        lane.unknown = unknownVersionProblem(event, versionOf({ upcasts }, event.type))
        return false
      }
      const isFirst = event.revision === parked.entry.revision
      const end = await runStep(ports, lane, event)
      if (end === 'left' || lane.term !== term) return false
      const { waiting } = parked.entry
      if (end === 'done') parked.entry = { ...parked.entry, waiting: isFirst ? waiting : Math.max(0, waiting - 1) }
      else {
        const attempts = (isFirst ? parked.entry.attempts : 0) + end.attempts
        const behind = isFirst ? waiting : Math.max(0, waiting - 1)
        const at = isFirst ? parked.entry.at : new Date(clock.now()).toISOString()
        parked.entry = parkedEntry(reaction.name, event, { ...end, attempts }, { at, waiting: behind })
        await putParked(ops, parked.entry)
        return false
      }
    }
  }
}

/**
 * Does what an operator has asked for with a parked stream: goes on with it in order, with the event that failed or
 * after it. Events that arrive meanwhile wait, and are processed by the same run.
 */
async function resume<Tools>(
  ports: ResumePorts<Tools>,
  lane: ReactionLane<Tools>,
  parked: LaneParkedStream,
  action: ParkedAction,
): Promise<void> {
  const before = parked.entry
  const { term } = lane
  const isThrough = await replay(ports, lane, parked, before.revision + (action === 'skip' ? 1 : 0))
  if (lane.term !== term || lane.unknown !== null) return
  if (isThrough) {
    // From now on events of the stream are jobs again. Until the entry is gone, a crash leads to one more run.
    lane.parked.delete(before.stream)
    // A commit may be storing the entry.
    await lane.busy
    await deleteParked(ports.ops, before)
  } else if (!lane.stopping && !ports.signal.aborted) await endRequest(ports.ops, before)
}

/** Starts what operators have asked for with the parked streams of a lane. @throws StoreUnavailable */
export async function resumeRequested<Tools>(
  ports: ResumePorts<Tools>,
  lane: ReactionLane<Tools>,
  onEnd: () => void,
): Promise<void> {
  if (lane.parked.size === 0) return
  const { term } = lane
  const requests = await listRequests(ports.ops, lane.group, ports.clock.now())
  if (lane.term !== term || lane.state !== 'running' || lane.stopping) return
  for (const parked of lane.parked.values()) {
    const action = requests.get(parked.entry.id)
    if (action === undefined || parked.resuming) continue
    parked.resuming = true
    const work = resume(ports, lane, parked, action)
      // What the store or the log refused is done at the next look.
      .catch(() => undefined)
      .finally(() => {
        parked.resuming = false
        lane.running.delete(work)
        onEnd()
      })
    lane.running.add(work)
  }
}
