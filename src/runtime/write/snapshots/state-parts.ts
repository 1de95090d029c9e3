import { Map as PersistentMap } from 'immutable'
import { freezeWindowedMap, isWindowedMap, type WindowedMap } from '../../../kernel/windowed-map.ts'

/** A map of a state that a snapshot keeps entry by entry, and where it stands: the names of fields, joined by `/`. */
export interface MapPart {
  readonly path: string
  readonly map: PersistentMap<string, unknown>
}

/** A windowed map of a state, which a snapshot keeps by its generations. */
export interface WindowedPart {
  readonly path: string
  readonly map: WindowedMap<unknown>
}

/** A state in parts: its maps, and the rest with null in their places. */
export interface StateParts {
  readonly maps: readonly MapPart[]
  readonly windowed: readonly WindowedPart[]
  readonly rest: unknown
}

/** Whether a value is a record, which is walked through. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** Whether a map has texts as keys; all keys of a map are of one kind. */
function isTextMap(map: PersistentMap<unknown, unknown>): map is PersistentMap<string, unknown> {
  return map.isEmpty() || typeof map.keySeq().first() === 'string'
}

/** Replaces the windowed maps and the maps that stand in records of a state, at any depth. */
function replaceMaps(
  value: unknown,
  path: string,
  replace: {
    readonly windowed: (part: WindowedPart) => unknown
    readonly map: (part: MapPart) => unknown
  },
): unknown {
  if (isWindowedMap(value)) return replace.windowed({ path, map: value })
  if (PersistentMap.isMap(value)) return isTextMap(value) ? replace.map({ path, map: value }) : value
  return mapFields(value, path, (part, place) => replaceMaps(part, place, replace))
}

/** The record with other fields; a record whose fields stay, and any other value, is returned as it is. */
function mapFields(value: unknown, path: string, change: (part: unknown, path: string) => unknown): unknown {
  if (!isRecord(value)) return value
  const fields = Object.entries(value).map(([field, part]) => {
    const changed = change(part, path === '' ? field : `${path}/${field}`)
    return { field, changed, stays: changed === part }
  })
  if (fields.every(({ stays }) => stays)) return value
  return Object.fromEntries(fields.map(({ field, changed }) => [field, changed]))
}

/** Splits a state. */
export function splitState(state: unknown): StateParts {
  const maps: MapPart[] = []
  const windowed: WindowedPart[] = []
  const take =
    <Part>(parts: Part[]) =>
    (part: Part) => {
      parts.push(part)
      return null
    }
  const rest = replaceMaps(state, '', { windowed: take(windowed), map: take(maps) })
  return { maps, windowed, rest }
}

/** The state of which these are the parts. */
export function joinState({ maps, windowed, rest }: StateParts): unknown {
  const parts = new Map<string, unknown>([...maps, ...windowed].map(({ path, map }) => [path, map]))
  const put = (value: unknown, path: string): unknown =>
    parts.has(path) ? parts.get(path) : mapFields(value, path, put)
  return put(rest, '')
}

/** The same state, the entries of its windowed maps in layers. `revision` is that of the newest event in it. */
export function freezeState(state: unknown, revision: number): unknown {
  return replaceMaps(state, '', {
    windowed: ({ map }) => freezeWindowedMap(map, revision),
    map: ({ map }) => map,
  })
}
