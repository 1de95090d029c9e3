import { isDeepStrictEqual } from 'node:util'
import { parseStreamName } from '../kernel/entity.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import type { AnyProjection } from '../kernel/projection.ts'
import type { Clock } from '../ports/clock.ts'
import type { Doc, ReadStore, StoredDocument } from '../ports/read-store.ts'
import { buildsOf, readAlias } from '../runtime/projections/build-alias.ts'
import type { BuildNames } from '../runtime/projections/build-names.ts'
import { coverageOf, type RangeProgress } from '../runtime/projections/coverage.ts'
import { type DocumentSource, idBatches, readDocuments, sameDocument } from '../runtime/projections/diff-documents.ts'
import { createReplay, type Replay, type ReplayPorts } from '../runtime/projections/replay.ts'

/** Positions up to which a model is folded again, by partition. */
type Limits = (partition: number) => number

/** A read model beside its replay. */
export interface CheckedModel {
  readonly projection: AnyProjection
  readonly names: BuildNames
  readonly replay: Replay
  readonly limits: Limits
  /** Where the partition that has come least far stands, and the one that has come furthest. */
  readonly lowest: number
  readonly highest: number
}

/** A model that is not compared, and why; `isFinding`: because something is wrong with it. */
export interface SkippedModel {
  readonly name: string
  readonly sentence: string
  readonly isFinding: boolean
}

/** Something wrong with a document, as a sentence. */
export interface DocumentProblem {
  readonly id: string
  readonly sentence: string
}

export interface ModelPorts {
  readonly views: ReadStore
  readonly replay: ReplayPorts
  readonly clock: Clock
  /** Position of the end of the log when the check began. */
  readonly head: number
  /** Events after a position up to another (inclusive), in pages. */
  readonly readLog: (after: number, to: number) => AsyncGenerator<readonly RecordedEvent[]>
  readonly currentHead: () => Promise<number>
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const limitsOf = (coverage: readonly RangeProgress[], head: number): Limits => {
  return (partition) => {
    const own = coverage.find(({ range }) => range.from <= partition && partition <= range.to)
    return Math.min(head, own?.position ?? -1)
  }
}

/** The build of a model that readers of this version read; a sentence where there is none. */
async function activeBuild(views: ReadStore, { name, version }: AnyProjection): Promise<BuildNames | SkippedModel> {
  const skipped = (sentence: string, isFinding = true): SkippedModel => ({ name, sentence, isFinding })
  try {
    const alias = await readAlias(views, name)
    if (alias === null) return skipped(`Read model ${name} has no build: no projector has worked on this read store.`)
    const { active, building } = buildsOf(alias, version)
    if (active !== null) return active
    if (building !== null)
      return skipped(`Read model ${name} is being built for version ${version}; it is not compared.`, false)
    const others = alias.versions.map((builds) => builds.version).join(', ')
    return skipped(
      `Read model ${name} is stored in version ${others}, and this version of the platform reads version ${version}.`,
    )
  } catch (error) {
    if (error instanceof Error && error.name === 'StoreUnavailable') throw error
    return skipped(
      `The entry of read model ${name} that names its builds cannot be read: ${messageOf(error).split('\n', 1)[0]}.`,
    )
  }
}

/** Whether a model's build is the one that is read, still: one that is not is dropped soon. @throws StoreUnavailable */
export async function isActive(
  { views }: Pick<ModelPorts, 'views'>,
  { projection, names }: CheckedModel,
): Promise<boolean> {
  const build = await activeBuild(views, projection)
  return 'collection' in build && build.collection === names.collection
}

/** Prepares the comparison of a model with its replay. @throws StoreUnavailable */
export async function openModel(
  { views, replay, head }: ModelPorts,
  projection: AnyProjection,
): Promise<CheckedModel | SkippedModel> {
  const names = await activeBuild(views, projection)
  if ('sentence' in names) return names
  const coverage = coverageOf(await views.checkpoints(`${projection.name}@`), names.checkpoint)
  const positions = coverage.map(({ position }) => position)
  return {
    projection,
    names,
    replay: await createReplay(replay, projection),
    limits: limitsOf(coverage, head),
    lowest: Math.min(head, ...positions),
    highest: Math.max(...positions),
  }
}

/** Events that a model folds up to its limits. */
export function withinLimits({ limits }: CheckedModel, events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  return events.filter(({ stream, position }) => position <= limits(parseStreamName(stream).partition))
}

const isExpired = ({ expiresAt }: AnyProjection, { doc }: StoredDocument, now: number): boolean => {
  const at = expiresAt?.(doc) ?? null
  return at !== null && at <= now
}

/** The first paths at which two documents differ, for a sentence. */
function differingFields(left: Doc, right: Doc): string {
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
  const differing = names.filter((name) => JSON.stringify(left[name]) !== JSON.stringify(right[name]))
  return (
    differing
      .slice(0, 3)
      .map((name) => `"${name}"`)
      .join(', ') + (differing.length > 3 ? ' and more' : '')
  )
}

const nameIn =
  ({ projection }: CheckedModel) =>
  (id: string): string =>
    `Document ${id} of read model ${projection.name}`

/** Documents of one model that are judged by the rest of the log, at most of a kind. */
const MAX_SUSPECTS = 20_000

/**
 * Compares a model with its replay, document by document, and yields what differs, in batches. A document that was folded
 * further than the replay is compared at its own position.
 * @throws StoreUnavailable, LogUnavailable
 */
export async function* compareModel(
  ports: ModelPorts,
  model: CheckedModel,
  onCompared: (documents: number) => void,
): AsyncGenerator<readonly DocumentProblem[]> {
  const { views, clock } = ports
  const { projection, names, replay } = model
  const nameOf = nameIn(model)
  const source: DocumentSource = { store: views, collection: names.collection }
  const newer: StoredDocument[] = []
  const missing: string[] = []
  for await (const ids of idBatches(source)) {
    const { documents, unreadable } = await readDocuments(source, ids)
    const coverage = views.atomic ? coverageOf(await views.checkpoints(`${projection.name}@`), names.checkpoint) : null
    const furthest = coverage && Math.max(...coverage.map(({ position }) => position))
    const replayed = new Map((await replay.getMany(ids)).map((one) => [one.id, one]))
    const problems = unreadable.map((id) => ({ id, sentence: `${nameOf(id)} cannot be read: it is not JSON.` }))
    for (const [id, stored] of documents) {
      if (isExpired(projection, stored, clock.now())) continue
      if (furthest !== null && stored.position > furthest) {
        const sentence = `${nameOf(id)} was folded to position ${stored.position}, and the checkpoint of its model stands at ${furthest}.`
        problems.push({ id, sentence })
      } else if (!sameDocument(stored, replayed.get(id) ?? null)) {
        if (stored.position > model.lowest) newer.push(stored)
        else problems.push({ id, sentence: differenceSentence(nameOf(id), stored, replayed.get(id) ?? null) })
      }
    }
    onCompared(ids.length)
    yield problems
  }
  for await (const ids of idBatches({ store: ports.replay.store, collection: replay.collection })) {
    const { documents, unreadable } = await readDocuments(source, ids)
    const absent = ids.filter((id) => !documents.has(id) && !unreadable.includes(id))
    for (const one of absent.length > 0 ? await replay.getMany(absent) : [])
      if (!isExpired(projection, one, clock.now())) missing.push(one.id)
  }
  const advance = createAdvance(ports, model)
  for await (const problem of judgeNewer(ports, model, newer.slice(0, MAX_SUSPECTS), advance)) yield [problem]
  for await (const problem of judgeMissing(ports, model, missing.slice(0, MAX_SUSPECTS), advance)) yield [problem]
  const more = Math.max(0, newer.length - MAX_SUSPECTS) + Math.max(0, missing.length - MAX_SUSPECTS)
  const counted = `${more} more documents of read model ${projection.name} are missing, or differ from their rebuild.`
  if (more > 0) yield [{ id: '', sentence: counted }]
}

function differenceSentence(name: string, stored: StoredDocument | null, rebuilt: StoredDocument | null): string {
  if (stored === null) return `${name} is missing, and the events of the log make one.`
  if (rebuilt === null) return `${name} is there, and no event of the log makes one.`
  return `${name} differs from its rebuild in ${differingFields(stored.doc, rebuilt.doc)}.`
}

/** A replay that goes on from the limits of its model, to `next` at most; `to` is the furthest of them, `least` the nearest. */
function createAdvance({ readLog }: Pick<ModelPorts, 'readLog'>, { replay, limits, lowest }: CheckedModel) {
  let reached: Limits = limits
  let from = lowest
  return async (next: Limits, to: number, least: number): Promise<void> => {
    const before = reached
    for await (const page of readLog(from, to)) {
      const isDue = ({ stream, position }: RecordedEvent) => {
        const { partition } = parseStreamName(stream)
        return position > before(partition) && position <= next(partition)
      }
      await replay.fold(page.filter(isDue))
    }
    reached = (partition) => Math.max(before(partition), next(partition))
    from = Math.max(from, least)
  }
}

/** Compares each document that was folded further than the replay at its own position, to which the replay goes on. */
async function* judgeNewer(
  ports: ModelPorts,
  model: CheckedModel,
  suspects: readonly StoredDocument[],
  advance: ReturnType<typeof createAdvance>,
): AsyncGenerator<DocumentProblem> {
  const { replay } = model
  const head = await ports.currentHead()
  const sorted = suspects.toSorted((one, other) => one.position - other.position)
  const name = nameIn(model)
  const due = sorted.filter(({ position }) => position <= head)
  for (const { id, position } of sorted.slice(due.length))
    yield { id, sentence: `${name(id)} was folded to position ${position}, and the log ends at ${head}.` }
  for (const stored of due) {
    await advance(() => stored.position, stored.position, stored.position)
    const [rebuilt = null] = await replay.getMany([stored.id])
    if (!sameDocument(stored, rebuilt))
      yield { id: stored.id, sentence: differenceSentence(name(stored.id), stored, rebuilt) }
  }
}

/** How often documents that seem to be missing are looked up again while their model moves. */
const LOOK_UPS = 5

/** Documents that are missing for good, and were not removed while the model was read. */
async function* judgeMissing(
  { views, clock }: ModelPorts,
  model: CheckedModel,
  suspects: readonly string[],
  advance: ReturnType<typeof createAdvance>,
): AsyncGenerator<DocumentProblem> {
  const { projection, names, replay } = model
  const source: DocumentSource = { store: views, collection: names.collection }
  const coverageNow = async () => coverageOf(await views.checkpoints(`${projection.name}@`), names.checkpoint)
  const name = nameIn(model)
  let missing = suspects
  for (let tries = 0; missing.length > 0 && tries < LOOK_UPS; tries += 1) {
    const coverage = await coverageNow()
    const positions = coverage.map(({ position }) => position)
    const furthest = Math.max(...positions)
    await advance(limitsOf(coverage, furthest), furthest, Math.min(...positions))
    const { documents } = await readDocuments(source, missing)
    const rebuilt = await replay.getMany(missing.filter((id) => !documents.has(id)))
    const still = rebuilt.filter((one) => !isExpired(projection, one, clock.now()))
    missing = still.map(({ id }) => id)
    if (isDeepStrictEqual(await coverageNow(), coverage)) break
  }
  for (const id of missing) yield { id, sentence: differenceSentence(name(id), null, null) }
}
