import { type AnyEntity, isKnownVersion, parseStreamName, upcast } from '../kernel/entity.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import { partitionOf, partitionText } from '../kernel/partition.ts'
import { type KeyedCheck, laterInstant, stepOf } from './keyed-check.ts'
import { meta as metaSchema } from './meta.ts'

interface StreamEnd {
  /** -1 before the first event. */
  readonly revision: number
  readonly at: string
}

function revisionProblem(before: number, revision: number): string | false {
  if (revision === before + 1) return false
  if (revision <= before) return `repeats or goes back behind revision ${before}, which came before it`
  const missing = revision - before - 1
  const until = missing === 1 ? `revision ${before + 1} is` : `revisions ${before + 1} to ${revision - 1} are`
  return `follows ${before < 0 ? 'nothing' : `revision ${before}`}: ${until} missing`
}

/** Revisions of each stream are 0, 1, 2…, and its recorded time never goes back. */
export const streams: KeyedCheck<StreamEnd> = {
  name: 'streams',
  proves: 'Each stream has its revisions without gaps or repeats, and its recorded time never goes back.',
  keys: ({ stream }) => [stream],
  initial: { revision: -1, at: '' },
  step: ({ revision, at }, event) =>
    stepOf(
      { revision: Math.max(revision, event.revision), at: laterInstant(event.meta.at, at) },
      revisionProblem(revision, event.revision),
      event.meta.at < at && `was recorded at ${event.meta.at}, and an earlier one of its stream at ${at}`,
    ),
}

const HEX = /^[0-9a-f]{2}$/

/** What the name of an event's stream says that its workspace or id does not. */
function nameProblem(entity: AnyEntity, { stream, meta }: RecordedEvent): string | false {
  const { category, id } = parseStreamName(stream)
  const digits = stream.slice(category.length + 1, category.length + 3)
  const owner = entity.partitionedBy === 'workspace' ? meta.workspaceId : id
  if (owner === null) return 'names no workspace in its metadata, and its stream is partitioned by one'
  const expected = partitionText(partitionOf(owner))
  return (
    (!HEX.test(digits) || digits !== expected) &&
    `is in a stream with partition "${digits}", and ${owner} belongs to partition "${expected}"`
  )
}

const issueOf = ({
  issues: [issue],
}: {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
}) => `${issue?.path.map(String).join('.') || 'the whole'}: ${issue?.message ?? 'invalid'}`

/** An event in the current version of its type, and what is wrong with it; null where it cannot be lifted to that version. */
export interface ParsedEvent {
  readonly event: RecordedEvent | null
  readonly problems: readonly string[]
}

/** Creates the parser of events by the schemas of the entities that the platform has. */
export function createEventParser(entities: readonly AnyEntity[]): (event: RecordedEvent) => ParsedEvent {
  const byType = new Map(
    entities.flatMap((entity) => Object.keys(entity.events).map((type) => [type, entity] as const)),
  )
  const kinds = new Set(entities.map(({ name }) => name))
  return (event) => {
    const { category } = parseStreamName(event.stream)
    if (!kinds.has(category)) return { event: null, problems: [`is in a stream of the unknown kind "${category}"`] }
    const entity = byType.get(event.type)
    if (!entity) return { event: null, problems: [`has a type that this version of the platform does not know`] }
    if (entity.name !== category)
      return { event: null, problems: [`is in a stream of another kind than "${entity.name}"`] }
    if (!isKnownVersion(entity, event) || !(event.version >= 1))
      return {
        event: null,
        problems: [`has version ${event.version}, which this version of the platform does not know`],
      }
    const meta = metaSchema.safeParse(event.meta)
    if (!meta.success) return { event: null, problems: [`has invalid metadata (${issueOf(meta.error)})`] }
    return parseData(entity, event)
  }
}

function parseData(entity: AnyEntity, event: RecordedEvent): ParsedEvent {
  const name = nameProblem(entity, event)
  const named = name ? [name] : []
  try {
    const lifted = upcast(entity, event)
    const data = entity.events[event.type].safeParse(lifted.data)
    if (!data.success) return { event: null, problems: [...named, `has invalid data (${issueOf(data.error)})`] }
    return { event: lifted, problems: named }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { event: null, problems: [...named, `cannot be lifted to the current version: ${message}`] }
  }
}
