import type { z } from 'zod'
import type { EventSchemas, RecordedOf } from './event.ts'

/** Index fields in order: 1 ascending, -1 descending; fields behind `_id` are only carried, to be read from the index alone. */
export type Index<Field extends string = string> = { readonly [K in Field]?: 1 | -1 }

/** The dotted paths of a document, two levels deep; a nullable object counts as its object. */
export type Paths<Doc> = {
  [K in keyof Doc & string]: NonNullable<Doc[K]> extends readonly unknown[]
    ? K
    : NonNullable<Doc[K]> extends Readonly<Record<string, unknown>>
      ? K | `${K}.${keyof NonNullable<Doc[K]> & string}`
      : K
}[keyof Doc & string]

/** A document that an event adds beside those that it is folded into. */
export interface EmittedDocument<Doc = unknown> {
  readonly id: string
  readonly doc: Doc
}

/** A read model as data: its events, its documents, and the pure reducers between them. */
export interface Projection<Doc = unknown, S extends EventSchemas = EventSchemas> {
  readonly name: string
  /** Raising it builds the new version beside the old, then switches. */
  readonly version: number
  readonly events: S
  /**
   * Whether each document takes events of one partition alone, so that ranges of partitions can be folded apart; otherwise
   * the projection has one lane. A law proves it.
   */
  readonly partitioned: boolean
  /**
   * Whether the documents of the last batches stay in memory for the next ones (the default). Not where a document's next event
   * comes much later: large documents would only be promoted to the old space of the heap.
   */
  readonly cached: boolean
  /** Documents have at least `workspaceId`, except in projections across workspaces. */
  readonly doc: z.ZodType<Doc>
  readonly indexes: readonly Index[]
  /** Numeric or text fields that get a real column beside the JSON, so that sums and filters need not parse. */
  readonly columns: readonly string[]
  /** Those of `columns` whose values many documents share, such as ids of campaigns: very many of them are read at once. */
  readonly shared: readonly string[]
  /** Ids of the documents that an event touches; empty for none. */
  readonly key: (event: RecordedOf<S>) => string | readonly string[] | null
  /** Creates the document of an event when there is none yet; null creates none. */
  readonly create: { readonly [K in keyof S & string]?: (event: RecordedOf<S, K>, id: string) => Doc | null }
  /** Updates the existing document; null removes it. */
  readonly update: { readonly [K in keyof S & string]?: (doc: Doc, event: RecordedOf<S, K>, id: string) => Doc | null }
  /**
   * Documents that an event adds beside the one that it has just been folded into. They are immutable: no event folds
   * into them. Their ids derive from the event alone, and are no key of another document.
   */
  readonly emit: ((doc: Doc, event: RecordedOf<S>, id: string) => readonly EmittedDocument<Doc>[]) | null
  /**
   * When a document expires (ms since the epoch); null: never. Readers find none that has expired, and it is deleted. No event
   * that is recorded later may change it but to remove it.
   */
  readonly expiresAt: ((doc: Doc) => number | null) | null
  /**
   * Recomputes derived fields from the rest of the document. Reducers must not read them.
   * Runs once for all events of a batch, before the document is stored (`withDerivedFields`).
   */
  readonly derive: ((doc: Doc) => Doc) | null
}

/** Any projection, for registries. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds projections of every document.
export type AnyProjection = Projection<any, any>

/** Defines a projection. An unknown event or an unknown index field does not compile. */
export function defineProjection<Doc extends object, const S extends EventSchemas>(definition: {
  readonly name: string
  readonly version: number
  readonly events: S
  readonly partitioned?: boolean
  readonly cached?: boolean
  readonly doc: z.ZodType<Doc>
  readonly indexes: readonly Index<Paths<NoInfer<Doc>> | '_id'>[]
  readonly columns?: readonly Paths<NoInfer<Doc>>[]
  readonly shared?: readonly Paths<NoInfer<Doc>>[]
  readonly key: Projection<Doc, S>['key']
  readonly create: Projection<NoInfer<Doc>, NoInfer<S>>['create']
  readonly update?: Projection<NoInfer<Doc>, NoInfer<S>>['update']
  readonly emit?: Projection<NoInfer<Doc>, NoInfer<S>>['emit']
  readonly expiresAt?: Projection<NoInfer<Doc>, NoInfer<S>>['expiresAt']
  readonly derive?: Projection<NoInfer<Doc>, NoInfer<S>>['derive']
}): Projection<Doc, S> {
  const defaults = {
    partitioned: true,
    cached: true,
    columns: [],
    shared: [],
    update: {},
    emit: null,
    expiresAt: null,
    derive: null,
  }
  return { ...defaults, ...definition }
}

/** A table with the same step for every event. */
export function forAllEvents<const S extends EventSchemas, Step>(
  events: S,
  step: Step,
): { [K in keyof S & string]: Step } {
  return Object.fromEntries(Object.keys(events).map((type) => [type, step])) as { [K in keyof S & string]: Step }
}

/** How many lanes a projection has under a number of shards. */
export function lanesOfProjection({ partitioned }: { readonly partitioned: boolean }, shards: number): number {
  return partitioned ? shards : 1
}

/** Collection that holds a projection's documents. */
export function collectionOf(projection: { readonly name: string; readonly version: number }): string {
  return `${projection.name}_v${projection.version}`
}

/**
 * Folds one event into one document (null: none yet). Returns the new document, null when there is none.
 * Runner, rebuild, read-your-writes and laws share this step.
 */
export function reduce<Doc, S extends EventSchemas>(
  projection: Projection<Doc, S>,
  doc: Doc | null,
  event: RecordedOf<S>,
  id: string,
): Doc | null {
  const type = event.type as keyof S & string
  const typed = event as RecordedOf<S, typeof type>
  if (doc === null) return projection.create[type]?.(typed, id) ?? null
  const step = projection.update[type]
  return step ? step(doc, typed, id) : doc
}

/** The document with its derived fields recomputed, as it is stored. */
export function withDerivedFields<Doc, S extends EventSchemas>({ derive }: Projection<Doc, S>, doc: Doc): Doc {
  return derive ? derive(doc) : doc
}

/** Ids that an event touches, as a list. */
export function keysOf<Doc, S extends EventSchemas>(
  projection: Projection<Doc, S>,
  event: RecordedOf<S>,
): readonly string[] {
  const keys = projection.key(event)
  return keys === null ? [] : typeof keys === 'string' ? [keys] : keys
}
