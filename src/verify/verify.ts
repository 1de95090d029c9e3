import { activity } from '../../projections/activity/activity.ts'
import { checkChain } from '../../queries/activity/activity-chain.ts'
import { errorMessage } from '../kernel/async/errors.ts'
import { type AnyEntity, parseStreamName } from '../kernel/entity.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import { type AnyProjection, collectionOf } from '../kernel/projection.ts'
import type { Clock } from '../ports/clock.ts'
import { START } from '../ports/event-log.ts'
import type { Files } from '../ports/files.ts'
import type { CheckedEvent, LogVerifier } from '../ports/log-verifier.ts'
import type { ReadStore } from '../ports/read-store.ts'
import { checkColumnFiles } from '../runtime/columns/check-files.ts'
import { ensureAliases } from '../runtime/projections/build-alias.ts'
import type { BuildNames } from '../runtime/projections/build-names.ts'
import { delegate } from '../runtime/projections/delegate-store.ts'
import { upcastsOf } from '../runtime/upcasts.ts'
import { KEYED_CHECKS } from './checks.ts'
import { createFindings, type Finding } from './finding.ts'
import { createKeyedRun, stateCollections } from './keyed-states.ts'
import { type CheckedModel, compareModel, isActive, type ModelPorts, openModel, withinLimits } from './read-models.ts'
import { createEventParser, streams } from './stream-check.ts'

/** What is checked, and with what. */
export interface VerifyPorts {
  readonly log: LogVerifier
  readonly views: ReadStore
  /** An empty store, for what does not fit into memory. */
  readonly scratch: ReadStore
  /** Files of columns; null where this machine has none. */
  readonly columns: Files | null
  /** Sentences on damage to the files that the stores are in; none for servers. */
  readonly fileProblems: readonly string[]
  /** Every kind of stream, those of adapters included. */
  readonly entities: readonly AnyEntity[]
  readonly projections: readonly AnyProjection[]
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** The parts of a check, in their order. */
export const PHASES = ['files', 'log', 'read models', 'activity', 'columns'] as const

/** How far a part is; `total` is 0 where it is not known. */
export interface VerifyProgress {
  readonly phase: (typeof PHASES)[number]
  readonly done: number
  readonly total: number
}

/** The result of a check. */
export interface VerifyReport {
  readonly findings: readonly Finding[]
  /** Number of findings, those that are not listed included; and the same by check. */
  readonly total: number
  readonly byCheck: Readonly<Record<string, number>>
  /** What the reader should know, and is no finding. */
  readonly notes: readonly string[]
  /** Position up to which the log was read. */
  readonly head: number
  readonly events: number
  readonly models: number
  readonly documents: number
}

/** The check was stopped before its end. */
export class VerifyStopped extends Error {
  override readonly name = 'VerifyStopped'
}

const PAGE = 2_000

const eventName = ({ stream, revision, type }: Pick<CheckedEvent, 'stream' | 'revision' | 'type'>) =>
  `Stream ${stream}, revision ${revision} (${type})`

type Check = VerifyPorts & {
  readonly add: (finding: Finding) => void
  readonly note: (sentence: string) => void
  /** Tells the progress. @throws VerifyStopped */
  readonly proceed: (phase: VerifyProgress['phase'], done: number, total: number) => void
}

const NOTHING = { head: START, events: 0, models: 0, documents: 0 }

/**
 * Checks everything that the stores hold, over a fixed end of the log; the platform may run meanwhile. Where a damaged file
 * cannot be read any further, the check ends there, which is a finding too.
 * @throws Unavailable, VerifyStopped
 */
export async function verify(
  ports: VerifyPorts,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifyReport> {
  const findings = createFindings()
  const notes: string[] = []
  const check: Check = {
    ...ports,
    add: findings.add,
    note: (sentence) => notes.push(sentence),
    proceed(phase, done, total) {
      if (ports.signal.aborted) throw new VerifyStopped('The check was stopped.')
      onProgress({ phase, done, total })
    },
  }
  for (const sentence of ports.fileProblems) findings.add({ check: 'files', sentence })
  let counts = NOTHING
  try {
    counts = await checkStores(check)
  } catch (error) {
    if (error instanceof VerifyStopped || ports.fileProblems.length === 0) throw error
    findings.add({ check: 'files', sentence: `The check ended early: ${errorMessage(error)}` })
  }
  return { ...counts, findings: findings.list(), total: findings.total(), byCheck: findings.byCheck(), notes }
}

/** Checks the stores through their ports, part by part. */
async function checkStores(check: Check): Promise<typeof NOTHING> {
  const { log, views, clock, scratch, entities } = check
  const head = await log.head()
  const modelPorts: ModelPorts = {
    views,
    replay: { store: scratch, upcasts: upcastsOf(entities), clock },
    clock,
    head,
    currentHead: () => log.head(),
    readLog: (after, to) => eventsBetween(log, after, to),
  }
  await ensureAliases(views)
  const models = await openModels(check, modelPorts)
  const { events, unreadableKinds, unchecked } = await checkLog(check, head, models)
  if (unchecked > 0 && !log.storeHasChecksums)
    check.note(`${unchecked} of ${events} events have no checksum of their own: an earlier version wrote them.`)
  const compared = models.filter(({ projection }) => !foldsKinds(entities, unreadableKinds, projection))
  if (compared.length < models.length) {
    const left = models.filter((model) => !compared.includes(model)).map(({ projection }) => projection.name)
    const kinds = [...unreadableKinds].join(', ')
    check.note(`Read models are not compared where events cannot be read (streams of ${kinds}): ${left.join(', ')}.`)
  }
  const documents = await checkModels(check, modelPorts, compared)
  await checkActivity(check, models)
  await checkColumns(check)
  return { head, events, models: compared.length, documents }
}

/** Whether a model folds events of one of these kinds of streams. */
function foldsKinds(entities: readonly AnyEntity[], kinds: ReadonlySet<string>, { events }: AnyProjection): boolean {
  return entities.some(
    ({ name, events: types }) => kinds.has(name) && Object.keys(types).some((type) => type in events),
  )
}

/** Prepares the models that can be compared, and reports the others. */
async function openModels({ log, projections, add, note }: Check, ports: ModelPorts): Promise<readonly CheckedModel[]> {
  const models: CheckedModel[] = []
  for (const projection of projections) {
    const model = await openModel(ports, projection)
    if (!('sentence' in model)) models.push(model)
    else if (!model.isFinding || ports.head === START) note(model.sentence)
    else add({ check: 'read-models', sentence: model.sentence, model: model.name })
  }
  const head = await log.head()
  for (const { projection, highest } of models.filter((model) => model.highest > head)) {
    const sentence = `The checkpoint of read model ${projection.name} stands at position ${highest}, and the log ends at ${head}: events at its end are missing, or the read store belongs to another log.`
    add({ check: 'read-models', model: projection.name, sentence })
  }
  return models
}

/** Compares the models with their replays. Resolves to the number of documents. */
async function checkModels(
  { add, note, proceed }: Check,
  ports: ModelPorts,
  models: readonly CheckedModel[],
): Promise<number> {
  let documents = 0
  for (const [index, model] of models.entries()) {
    const { name } = model.projection
    const fault = model.replay.fault()
    if (fault) {
      const { stream, revision } = fault.event
      const sentence = `${eventName(fault.event)} cannot be folded into read model ${name}: ${errorMessage(fault.error)}.`
      add({ check: 'read-models', model: name, stream, revision, sentence })
      continue
    }
    const problems = compareModel(ports, model, (count) => {
      documents += count
      proceed('read models', index, models.length)
    })
    for await (const page of problems) {
      if (page.length > 0 && !(await isActive(ports, model))) {
        note(`Read model ${name} has been rebuilt while it was compared; run the check again for it.`)
        break
      }
      for (const { id, sentence } of page) add({ check: 'read-models', model: name, id, sentence })
    }
  }
  proceed('read models', models.length, models.length)
  return documents
}

/** Reads the columns on disk. */
async function checkColumns({ columns, add, proceed }: Check): Promise<void> {
  if (columns === null) return
  let folders = 0
  for await (const sentences of checkColumnFiles(columns)) {
    folders += 1
    // How many there are is not known before they have been read.
    proceed('columns', folders, folders)
    for (const sentence of sentences) add({ check: 'columns', sentence })
  }
}

/** Readable events of a range of the log, in pages. */
async function* eventsBetween(log: LogVerifier, after: number, to: number): AsyncGenerator<readonly RecordedEvent[]> {
  for (let from = after; from < to; ) {
    const { events, position, end } = await log.read(from, Math.min(PAGE, to - from))
    yield events.flatMap(({ event }) => (event !== null && event.position <= to ? [event] : []))
    from = position
    if (end) return
  }
}

interface LogCount {
  readonly events: number
  /** Kinds of the streams with events that cannot be read, so that nothing can be folded from them. */
  readonly unreadableKinds: ReadonlySet<string>
  readonly unchecked: number
}

/** Reports what is wrong with the stored form of an event, and parses it; null where it cannot be read. */
function checkEvent(
  { add }: Pick<Check, 'add'>,
  parse: ReturnType<typeof createEventParser>,
  one: CheckedEvent,
  last: number,
): RecordedEvent | null {
  const { event, problems } = one.event ? parse(one.event) : { event: null, problems: [] }
  const place = one.position > last ? [] : [`is at position ${one.position}, behind position ${last}`]
  for (const problem of [...(one.problem ? [one.problem] : []), ...place]) add(eventFinding('log', one, problem))
  for (const problem of problems) add(eventFinding('events', one, problem))
  return event
}

function eventFinding(
  check: string,
  event: Pick<CheckedEvent, 'stream' | 'revision' | 'type'>,
  problem: string,
): Finding {
  const { stream, revision } = event
  return { check, stream, revision, sentence: `${eventName(event)} ${problem}.` }
}

/** Reads the log once, makes every check of events, and folds them into the replays of the models. */
async function checkLog(check: Check, head: number, models: readonly CheckedModel[]): Promise<LogCount> {
  const { log, scratch, entities, clock, add, proceed } = check
  const parse = createEventParser(entities)
  await scratch.ensure(stateCollections(KEYED_CHECKS))
  const runs = KEYED_CHECKS.map((keyed) => createKeyedRun(scratch, keyed))
  const count = { events: 0, unreadableKinds: new Set<string>(), unchecked: 0 }
  let last = START
  for (let after = START, end = false; after < head && !end; ) {
    const page = await log.read(after, PAGE)
    const read = page.events.filter(({ position }) => position <= head)
    const parsed: RecordedEvent[] = []
    for (const one of read) {
      const event = checkEvent(check, parse, one, last)
      last = Math.max(last, one.position)
      if (event) parsed.push(event)
      else count.unreadableKinds.add(parseStreamName(one.stream).category)
    }
    count.events += read.length
    count.unchecked += read.filter(({ hasChecksum }) => !hasChecksum).length
    for (const run of runs) {
      // Revisions count for events that cannot be parsed, too.
      const events = run.check === streams ? read.flatMap(({ event }) => event ?? []) : parsed
      for (const { event, problem } of await run.take(events)) add(eventFinding(run.check.name, event, problem))
    }
    for (const model of models) await model.replay.fold(withinLimits(model, parsed))
    after = page.position
    end = page.end
    proceed('log', Math.min(after, head), head)
  }
  const time = { now: new Date(clock.now()).toISOString() }
  for (const run of runs)
    for await (const sentences of run.end(time))
      for (const sentence of sentences) add({ check: run.check.name, sentence })
  return count
}

/** Read models in which a projection's plain collection name means one of its builds. */
function withBuild(views: ReadStore, projection: AnyProjection, { collection }: BuildNames): ReadStore {
  const nameOf = (name: string) => (name === collectionOf(projection) ? collection : name)
  return {
    ...delegate(views),
    get: (name, id, now) => views.get(nameOf(name), id, now),
    find: (name, page) => views.find(nameOf(name), page),
  }
}

/** Recomputes the chain of every workspace's activity log from the stored entries. */
async function checkActivity({ views, add, proceed }: Check, models: readonly CheckedModel[]): Promise<void> {
  const model = models.find(({ projection }) => projection.name === activity.name)
  if (model === undefined) return
  const active = withBuild(views, activity, model.names)
  const heads = await views.pluck(model.names.collection, 'workspaceId', { filter: { head: true } })
  for (const [index, head] of heads.entries()) {
    proceed('activity', index, heads.length)
    const workspaceId = String(head)
    const place = { check: 'activity', model: activity.name }
    try {
      const { broken } = await checkChain(active, workspaceId, {})
      const sentence = `The activity log of workspace ${workspaceId} breaks at entry ${broken?.id} of ${broken?.at}, which does not follow from the one before it.`
      if (broken) add({ ...place, id: broken.id, sentence })
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      add({ ...place, sentence: `The activity log of workspace ${workspaceId} has entries that are not JSON.` })
    }
  }
}
