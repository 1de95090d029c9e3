import type { TagFilter } from '../demand/endpoint.ts'
import { quoted } from '../shared/problems.ts'
import type { Finding } from './caps.ts'
import type { Arrival } from './decision.ts'

type Values = readonly string[]

interface Op {
  /** Whether a tag's value holds; undefined where the call has no such tag. */
  readonly holds: (tag: string | undefined, values: Values) => boolean
  readonly words: (values: string) => string
}

/** How each operator compares, to the letter. A tag that is not there equals nothing, so it passes what only excludes values. */
const OPS: Readonly<Record<TagFilter['op'], Op>> = {
  eq: { holds: (tag, [value]) => tag === value, words: (value) => `is ${value}` },
  neq: { holds: (tag, [value]) => tag !== value, words: (value) => `is not ${value}` },
  in: { holds: (tag, values) => tag !== undefined && values.includes(tag), words: (list) => `is one of ${list}` },
  nin: { holds: (tag, values) => tag === undefined || !values.includes(tag), words: (list) => `is none of ${list}` },
  exists: { holds: (tag) => tag !== undefined, words: () => 'is there' },
  missing: { holds: (tag) => tag === undefined, words: () => 'is not there' },
  prefix: {
    holds: (tag, [value]) => value !== undefined && tag?.startsWith(value) === true,
    words: (value) => `begins with ${value}`,
  },
}

/** Values of a filter that a sentence repeats. */
const NAMED = 3

function named(values: Values): string {
  const rest = values.length - NAMED
  const shown = values.slice(0, NAMED).map((value) => `“${quoted(value)}”`)
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}

const valuesOf = (value: TagFilter['value']): Values =>
  value === null ? [] : typeof value === 'string' ? [value] : value

/** The first filter that a call's tags do not pass, all of which must hold; null when they pass. Tags are those of the arrival. */
export function failedFilter(who: string, filters: readonly TagFilter[], tags: Arrival['tags']): Finding | null {
  const tagOf = (key: string) => (Object.hasOwn(tags, key) ? tags[key]?.value : undefined)
  const failed = filters.find(({ key, op, value }) => !OPS[op].holds(tagOf(key), valuesOf(value)))
  if (!failed) return null
  const { key, op, value } = failed
  const values = named(valuesOf(value))
  const tag = tagOf(key)
  return {
    sentence: `${who} takes only calls whose tag ${key} ${OPS[op].words(values)}.`,
    figures: { key, op, value: value === null ? null : values, tag: tag === undefined ? null : quoted(tag) },
  }
}
