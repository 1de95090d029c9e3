import { z } from 'zod'

type RawIssue = z.core.$ZodRawIssue
type Issue = z.core.$ZodIssue

/** Problems by field path, as `details` of a `validation_error` (Supplement §1.3). */
export type Problems = Readonly<Record<string, string>>

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
}

function typeName(expected: string): string {
  return typeNames[expected] ?? `a ${expected}`
}

const formatMessages: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  email: 'must be an e-mail address',
  url: 'must be a URL',
  datetime: 'must be an ISO 8601 instant',
  date: 'must be a date, as 2026-01-31',
  e164: 'must be a phone number in E.164',
  ipv4: 'must be an IPv4 address',
  ipv6: 'must be an IPv6 address',
  regex: 'is not spelt as it must be',
}

/** What is counted, by the kind of value that was too small or too big. */
const units: Readonly<Record<string, string>> = {
  string: ' characters',
  array: ' entries',
  set: ' entries',
  file: ' bytes',
}

interface Bounds {
  readonly minimum?: unknown
  readonly maximum?: unknown
}

/** Where each kind of check keeps its end of the range. */
const boundsOfCheck: Readonly<Record<string, (check: { readonly [name: string]: unknown }) => Bounds>> = {
  greater_than: ({ value }) => ({ minimum: value }),
  less_than: ({ value }) => ({ maximum: value }),
  min_length: ({ minimum }) => ({ minimum }),
  max_length: ({ maximum }) => ({ maximum }),
  length_equals: ({ length }) => ({ minimum: length, maximum: length }),
}

/** The range that the checks of the failed schema draw together. */
function boundsOf(issue: RawIssue | Issue): Bounds {
  const schema = 'schema' in issue && issue.schema instanceof z.core.$ZodType ? issue.schema : null
  const checks = (schema?._zod.def.checks ?? []).map((check) => check._zod.def)
  return Object.assign({}, ...checks.map((check) => boundsOfCheck[check.check]?.({ ...check })))
}

/** Both ends of the range as far as they are known; `own` is the end that failed. */
function rangeMessage(issue: Extract<RawIssue, { readonly code: 'too_small' | 'too_big' }>, own: Bounds): string {
  const { minimum, maximum } = { ...boundsOf(issue), ...own }
  const unit = units[issue.origin] ?? ''
  const verb = unit === '' ? 'be' : 'have'
  if (minimum === undefined) return `must ${verb} at most ${maximum}${unit}`
  if (maximum === undefined) return `must ${verb} at least ${minimum}${unit}`
  if (minimum === maximum) return `must ${verb} exactly ${minimum}${unit}`
  return unit === '' ? `must be from ${minimum} to ${maximum}` : `must have ${minimum} to ${maximum}${unit}`
}

function allowedValuesMessage(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.map(String).join(', ')}`
}

type Message<Code> = (issue: Extract<RawIssue, { readonly code: Code }>) => string

const messages: { readonly [Code in RawIssue['code']]: Message<Code> } = {
  invalid_type: ({ input, expected }) => (input === undefined ? 'is required' : `must be ${typeName(expected)}`),
  too_small: (issue) => rangeMessage(issue, { minimum: issue.minimum }),
  too_big: (issue) => rangeMessage(issue, { maximum: issue.maximum }),
  invalid_format: ({ format }) => formatMessages[format] ?? `is not a valid ${format}`,
  not_multiple_of: ({ divisor }) => `must be a multiple of ${divisor}`,
  unrecognized_keys: () => 'is not a known field',
  invalid_union: () => 'has none of the shapes that it may have',
  invalid_key: () => 'has a key that is not spelt as it must be',
  invalid_element: () => 'has an entry that is not as it must be',
  invalid_value: ({ values, input }) => (input === undefined ? 'is required' : allowedValuesMessage(values)),
  custom: () => 'is not valid',
}

/** The sentence of an issue for which its schema has none: pass it as `error` to a parse. */
export function issueMessage(issue: RawIssue): string {
  const say: (issue: never) => string = messages[issue.code]
  return say(issue as never)
}

/** The issues of the branch of a union that came nearest: one that failed below its own root. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  return branches.find((branch) => branch.every(({ path }) => path.length > 0)) ?? []
}

function problemEntries(
  issue: Issue,
  prefix: readonly PropertyKey[],
  whole: string,
): readonly (readonly [string, string])[] {
  const path = [...prefix, ...issue.path]
  const name = (...more: readonly PropertyKey[]) => [...path, ...more].map(String).join('.') || whole
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [name(key), issue.message])
  if (issue.code === 'invalid_union') {
    const inner = closestBranch(issue.errors).flatMap((nested) => problemEntries(withMessage(nested), path, whole))
    if (inner.length > 0) return inner
  }
  if (issue.code === 'invalid_key') {
    const [problem] = issue.issues
    return [[name(), problem ? `is a key that ${problem.message}` : issue.message]]
  }
  return [[name(), issue.message]]
}

/** Issues inside a union are worded by zod itself: word them as the others. */
function withMessage(issue: Issue): Issue {
  return issue.code === 'custom' ? issue : { ...issue, message: issueMessage({ input: null, ...issue } as RawIssue) }
}

/** The problems of a failed parse by field path; `whole` names the value itself. The first problem of a field is told. */
export function problemsOf(error: z.core.$ZodError, whole: string): Problems {
  const found = error.issues.flatMap((issue) => problemEntries(issue, [], whole))
  return Object.fromEntries(found.toReversed())
}
