import { excerpt } from '../../kernel/excerpt.ts'
import { escapeKey } from '../../kernel/proto-key.ts'
import type { TagFilter } from '../demand/endpoint.ts'
import type { SkipDetail } from './caps.ts'
import type { Arrival } from './decision.ts'

type Values = readonly string[]

interface Op {
  /** Whether a tag's value passes; the value is undefined where the call has no such tag. */
  readonly matches: (tag: string | undefined, values: Values) => boolean
  readonly words: (values: string) => string
}

/** The operators: all compare case-sensitively. A missing tag equals no value, so it passes `neq` and `nin`. */
const OPS: Readonly<Record<TagFilter['op'], Op>> = {
  eq: { matches: (tag, [value]) => tag === value, words: (value) => `is ${value}` },
  neq: { matches: (tag, [value]) => tag !== value, words: (value) => `is not ${value}` },
  in: { matches: (tag, values) => tag !== undefined && values.includes(tag), words: (list) => `is one of ${list}` },
  nin: { matches: (tag, values) => tag === undefined || !values.includes(tag), words: (list) => `is none of ${list}` },
  exists: { matches: (tag) => tag !== undefined, words: () => 'is there' },
  missing: { matches: (tag) => tag === undefined, words: () => 'is not there' },
  prefix: {
    matches: (tag, [value]) => value !== undefined && tag?.startsWith(value) === true,
    words: (value) => `begins with ${value}`,
  },
}

/** Values of a filter that its sentence quotes at most. */
const QUOTED_VALUES = 3

function quotedValues(values: Values): string {
  const rest = values.length - QUOTED_VALUES
  const shown = values.slice(0, QUOTED_VALUES).map((value) => `“${excerpt(value)}”`)
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}

const valuesOf = (value: TagFilter['value']): Values =>
  value === null ? [] : typeof value === 'string' ? [value] : value

/** Checks the tags of an arrival against filters, all of which must pass: the first that fails; null when all pass. */
export function checkTagFilters(who: string, filters: readonly TagFilter[], tags: Arrival['tags']): SkipDetail | null {
  const tagOf = (key: string) => (Object.hasOwn(tags, escapeKey(key)) ? tags[escapeKey(key)]?.value : undefined)
  const failed = filters.find(({ key, op, value }) => !OPS[op].matches(tagOf(key), valuesOf(value)))
  if (!failed) return null
  const { key, op, value } = failed
  const values = quotedValues(valuesOf(value))
  const tag = tagOf(key)
  return {
    sentence: `${who} takes only calls whose tag ${key} ${OPS[op].words(values)}.`,
    figures: { key, op, value: value === null ? null : values, tag: tag === undefined ? null : excerpt(tag) },
  }
}
