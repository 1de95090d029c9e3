import type { Json } from '../e2e/api-client.ts'

/** Values of one name that are kept: the first ones, and the newest. */
const KEPT = { first: 10, newest: 20 }
const DEPTH = 8

/**
 * Values that responses showed, by the name of the field that takes them (`campaignId`, `quoteToken`), so that generated
 * requests name records that exist.
 */
export interface KnownValues {
  readonly of: (name: string) => readonly unknown[]
  readonly add: (name: string, value: unknown) => void
  /** Adds what a response of a path shows. */
  readonly learn: (path: string, body: Json) => void
}

/** The name of one record of a collection: `api-keys` → `apiKey`. */
function singular(collection: string): string {
  return collection.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/s$/, '')
}

/** Parameters that do not say of which record they are the id. */
const RECORD_OF_PARAMETER: Readonly<Record<string, string>> = { rid: 'recordingId', name: 'projectionName' }

/** The name of the value that a path parameter takes: `id` after `/campaigns/` is a `campaignId`. */
export function nameOfPathParameter(path: string, parameter: string): string {
  const parts = path.split('/')
  const collection = parts[parts.indexOf(`{${parameter}}`) - 1] ?? ''
  if (parameter === 'id') return `${singular(collection)}Id`
  return RECORD_OF_PARAMETER[parameter] ?? parameter
}

/** The collection that a path lists or adds to. */
function collectionOf(path: string): string {
  return path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? ''
}

/** Creates an empty store of values. */
export function createKnownValues(): KnownValues {
  const values = new Map<string, unknown[]>()
  const add = (name: string, value: unknown) => {
    const kept = values.get(name) ?? []
    if (kept.includes(value)) return
    kept.push(value)
    if (kept.length > KEPT.first + KEPT.newest) kept.splice(KEPT.first, 1)
    values.set(name, kept)
  }
  const visit = (value: Json, record: string, depth: number) => {
    if (typeof value !== 'object' || value === null || depth > DEPTH) return
    if (Array.isArray(value)) {
      for (const row of value.slice(0, 5)) visit(row, record, depth + 1)
      return
    }
    if (typeof value.id === 'string') add(`${record}Id`, value.id)
    else if (typeof value.name === 'string') add(`${record}Name`, value.name)
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && key !== 'id') add(key, inner)
      else
        visit(inner, Array.isArray(inner) && key !== 'data' ? singular(key) : key === 'data' ? record : key, depth + 1)
    }
  }
  return {
    of: (name) => values.get(name) ?? [],
    add,
    learn: (path, body) => visit(body, singular(collectionOf(path)), 0),
  }
}
