import { auction } from '../../../src/domain/auctions/auction.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { delivery } from '../../../src/domain/delivery/delivery.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import { type AnyEntity, anyEntityOf, type Entity, isKnownVersion, versionOf } from '../../../src/kernel/entity.ts'
import type { EventSchemas, RecordedEvent } from '../../../src/kernel/event.ts'
import { type AnyProjection, collectionOf } from '../../../src/kernel/projection.ts'
import { columns, projections, upcasts } from '../../../src/main/registry.ts'
import { type Doc, deriveFrom, type ReadStore, type StoredDocument } from '../../../src/ports/read-store.ts'
import type { ColumnSpec } from '../../../src/runtime/columns/column-spec.ts'
import { parseCollectionName } from '../../../src/runtime/projections/build-names.ts'
import { delegate } from '../../../src/runtime/projections/delegate-store.ts'
import type { Upcasts } from '../../../src/runtime/upcasts.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'

/** What differs between versions of the platform's code that run side by side. */
export interface CodeVersion {
  readonly name: 'current' | 'next'
  /** Every read model. */
  readonly projections: readonly AnyProjection[]
  readonly columns: readonly ColumnSpec[]
  readonly upcasts: Upcasts
  /** The writer whose commands are of this version. */
  readonly writer: (writer: StreamWriter) => StreamWriter
  /** The read store as the queries of this version name its collections. */
  readonly views: (store: ReadStore) => ReadStore
}

/** The event that the next version writes in a later version of its own. */
export const LATER_EVENT = 'CallTagged'
/** Kinds of streams whose snapshots the next version keeps for itself: those of another shape of their states. */
const RESHAPED: ReadonlySet<string> = new Set(['workspace', ledger.name])
/** Read models of which the next version has another: rows, timers, and one that decisions look up. */
const REBUILT: ReadonlySet<string> = new Set(['call-log', 'call-story', 'caller-memory', 'timers', 'wallet-entries'])

/** The field that documents of the next version have, and no others. */
export const NEXT_FIELD = 'ofNextVersion'

const entities = new Map<string, AnyEntity>()

function nextEntity<State, S extends EventSchemas>(current: Entity<State, S>): AnyEntity {
  const entity = anyEntityOf(current)
  const known = entities.get(entity.name)
  if (known) return known
  const later = (data: unknown) => data
  const next = {
    ...entity,
    version: entity.version + (RESHAPED.has(entity.name) ? 1 : 0),
    upcasts: entity.name === call.name ? { ...entity.upcasts, [LATER_EVENT]: [later] } : entity.upcasts,
  }
  entities.set(entity.name, next)
  return next
}

function nextCommand(command: AnyCommand): AnyCommand {
  const reads = Object.entries<AnyEntity>(command.reads).map(([name, entity]) => [name, nextEntity(entity)])
  return { ...command, entity: nextEntity(command.entity), reads: Object.fromEntries(reads) }
}

function nextProjection(projection: AnyProjection): AnyProjection {
  if (!REBUILT.has(projection.name)) return projection
  const derive = (doc: Doc) => ({ ...(projection.derive?.(doc) ?? doc), [NEXT_FIELD]: true })
  return { ...projection, version: projection.version + 1, derive }
}

/** Names of collections in the next version, by those of the current one. */
const renamed = new Map(projections.map((one) => [collectionOf(one), collectionOf(nextProjection(one))]))
const nextName = (collection: string) => renamed.get(collection) ?? collection

/** A document of another version of the code was read: its shape is not known. */
export class ForeignDocument extends Error {
  override readonly name = 'ForeignDocument'
}

/** Read-store decorator: reads of a version find no documents of the other one. `nameOf` is the version's name of a collection. */
function withOwnDocuments(store: ReadStore, isNext: boolean, nameOf: (collection: string) => string): ReadStore {
  function own<Stored extends readonly (StoredDocument | null)[]>(collection: string, documents: Stored): Stored {
    const isMarked = isNext && REBUILT.has(parseCollectionName(collection).name)
    const foreign = documents.find((stored) => stored && NEXT_FIELD in stored.doc !== isMarked)
    if (foreign) throw new ForeignDocument(`${collection} ${foreign.id} is of the other version.`)
    return documents
  }
  return {
    ...delegate(store),
    async get(collection, id, now) {
      const [found] = own(collection, [await store.get(nameOf(collection), id, now)])
      return found ?? null
    },
    getMany: async (collection, ids, now) => own(collection, await store.getMany(nameOf(collection), ids, now)),
    async find(collection, page) {
      const found = await store.find(nameOf(collection), page)
      return page.fields ? found : own(collection, found)
    },
    async findDerived(collection, page, derivation) {
      return deriveFrom(own(collection, await store.find(nameOf(collection), page)), derivation)
    },
    pluck: (collection, path, page) => store.pluck(nameOf(collection), path, page),
    count: (collection, filter, now) => store.count(nameOf(collection), filter, now),
    sum: (collection, filter, groupBy, fields, now) => store.sum(nameOf(collection), filter, groupBy, fields, now),
  }
}

/** The code as it is. */
export const currentCode: CodeVersion = {
  name: 'current',
  projections,
  columns,
  upcasts,
  writer: (writer) => writer,
  views: (store) => withOwnDocuments(store, false, (collection) => collection),
}

/**
 * The code after the next upgrade: read models of a later version, which mark their documents, one event of a later
 * version, and states of another shape.
 */
export const nextCode: CodeVersion = {
  name: 'next',
  projections: projections.map(nextProjection),
  columns: columns.map((spec) => ({ ...spec, collection: nextName(spec.collection) })),
  upcasts: { ...upcasts, [LATER_EVENT]: [(data) => data] },
  writer: (writer) => ({
    ...writer,
    handle: (command, input, context) => writer.handle(nextCommand(command), input, context),
    stateOf: (entity, id, workspaceId) => writer.stateOf(nextEntity(entity), id, workspaceId),
    recentStateOf: (entity, id, maxAgeMs, workspaceId) =>
      writer.recentStateOf(nextEntity(entity), id, maxAgeMs, workspaceId),
  }),
  views: (store) => withOwnDocuments(store, true, nextName),
}

/** The read models of calls, pings, counters and money; where there are endpoints, of deliveries too. Those of configuration alone need no simulation. */
export function simulatedOf(
  { projections: all }: Pick<CodeVersion, 'projections'>,
  { endpoints }: { readonly endpoints: boolean },
): readonly AnyProjection[] {
  const simulated = [ledger, call, wallet, auction, ...(endpoints ? [delivery] : [])]
  return all.filter(({ events }) =>
    simulated.some((entity) => Object.keys(entity.events).some((type) => type in events)),
  )
}

/** An event as the current version would have written it. The later version of the event has the same data. */
export function asCurrent(event: RecordedEvent): RecordedEvent {
  return isKnownVersion({ upcasts }, event) ? event : { ...event, version: versionOf({ upcasts }, event.type) }
}
