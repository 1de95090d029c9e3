import type { z } from 'zod'

/** Who did it, as the activity log names them. */
export interface Actor {
  readonly type: 'key' | 'user' | 'publisher' | 'operator' | 'carrier' | 'system'
  readonly id: string | null
  readonly name: string
}

/** Metadata of an event, beside its own data. */
export interface Meta {
  readonly eventId: string
  readonly workspaceId: string | null
  /** When it was recorded (ISO 8601, UTC, milliseconds). When it happened is the event's own `occurredAt`. */
  readonly at: string
  readonly actor: Actor
  readonly commandId: string
  readonly correlationId: string
  readonly causationId: string | null
  readonly surface: string
  readonly ip: string | null
  /** Revisions of the other streams that the decision read, by stream name. */
  readonly reads?: Readonly<Record<string, number>>
  /** Documents that the decision looked up, by `memory/id`; null where there was none. */
  readonly recalled?: Readonly<Record<string, unknown>>
}

/** An event as a decision returns it. */
export interface NewEvent<Type extends string = string, Data = unknown> {
  readonly type: Type
  readonly data: Data
}

/** An event ready for the log. */
export interface EventToAppend extends NewEvent {
  readonly version: number
  readonly meta: Meta
}

/** An event as recorded in the log. */
export interface RecordedEvent<Type extends string = string, Data = unknown> extends NewEvent<Type, Data> {
  readonly stream: string
  /** 0 for a stream's first event, then without gaps. */
  readonly revision: number
  /** Position in the whole log; grows from event to event, with gaps. */
  readonly position: number
  readonly version: number
  readonly meta: Meta
}

/** Event types of an entity: name → schema of its data. These names are the storage format. */
export type EventSchemas = Readonly<Record<string, z.ZodType>>

/** The union of new events that the schemas allow. */
export type EventOf<S extends EventSchemas> = {
  [K in keyof S & string]: NewEvent<K, z.output<S[K]>>
}[keyof S & string]

/** The union of recorded events that the schemas allow, or one of them by name. */
export type RecordedOf<S extends EventSchemas, K extends keyof S & string = keyof S & string> = {
  [T in K]: RecordedEvent<T, z.output<S[T]>>
}[K]

/** Dispatches an event to the function of its type in a table; null for a type that the table does not have. */
export function matchEvent<const S extends EventSchemas, Answer>(
  table: {
    readonly [K in keyof S & string]: (event: RecordedOf<S, K>) => Answer
  },
): (event: RecordedEvent) => Answer | null {
  const rows = table as object as Readonly<Record<string, (event: RecordedEvent) => Answer>>
  return (event) => (Object.hasOwn(rows, event.type) ? (rows[event.type]?.(event) ?? null) : null)
}

/** The data of the first event of a type that this process has just appended: it is not parsed again. */
export function appendedDataOf<const S extends EventSchemas, K extends keyof S & string>(
  _schemas: S,
  events: readonly RecordedEvent[],
  type: K,
): z.output<S[K]> | undefined {
  return events.find((event) => event.type === type)?.data as z.output<S[K]> | undefined
}

/** Data of the first event of a type, parsed by its schema; undefined when there is none. */
export function dataOf<const S extends EventSchemas, K extends keyof S & string>(
  schemas: S,
  events: readonly RecordedEvent[],
  type: K,
): z.output<S[K]> | undefined {
  const found = events.find((event) => event.type === type)
  return found && (schemas[type]?.parse(found.data) as z.output<S[K]>)
}
