import { z } from 'zod'
import { REQUEST } from '../../domain/shared/limits.ts'
import { excerpt } from '../../kernel/excerpt.ts'
import { unescapeKey } from '../../kernel/proto-key.ts'

type RawIssue = z.core.$ZodRawIssue
type Issue = z.core.$ZodIssue

/** Problems by field path, as `details` of a `validation_error` (Supplement §1.3). */
export type Problems = Readonly<Record<string, string>>

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  tuple: 'an array',
  null: 'null',
}

function typeName(expected: string): string {
  return typeNames[expected] ?? `a ${expected}`
}

const formatMessages: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  email: 'must be an e-mail address, such as name@example.com',
  url: 'must be a URL',
  datetime: 'must be an ISO 8601 date and time, such as 2026-01-31T09:00:00Z',
  date: 'must be a date, such as 2026-01-31',
  e164: 'must be a phone number in E.164 format, such as +13105550100',
  ipv4: 'must be an IPv4 address',
  ipv6: 'must be an IPv6 address',
  regex: 'has an invalid format',
}

/** Unit of a size limit, by the kind of value (`origin` of the issue). */
const units: Readonly<Record<string, string>> = {
  string: ' characters',
  array: ' items',
  set: ' items',
  file: ' bytes',
}

interface Bounds {
  readonly minimum?: unknown
  readonly maximum?: unknown
}

/** Bounds of one check, by its kind. */
const boundsOfCheck: Readonly<Record<string, (check: { readonly [name: string]: unknown }) => Bounds>> = {
  greater_than: ({ value }) => ({ minimum: value }),
  less_than: ({ value }) => ({ maximum: value }),
  min_length: ({ minimum }) => ({ minimum }),
  max_length: ({ maximum }) => ({ maximum }),
  length_equals: ({ length }) => ({ minimum: length, maximum: length }),
}

/** Bounds of all checks of the failed schema together. */
function boundsOf(issue: RawIssue | Issue): Bounds {
  const schema = 'schema' in issue && issue.schema instanceof z.core.$ZodType ? issue.schema : null
  const checks = (schema?._zod.def.checks ?? []).map((check) => check._zod.def)
  return Object.assign({}, ...checks.map((check) => boundsOfCheck[check.check]?.({ ...check })))
}

/** Names both bounds where known; `own` is the bound that was violated. */
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
  return values.length === 1 ? `must be ${String(values[0])}` : `must be one of: ${values.map(String).join(', ')}`
}

type Message<Code> = (issue: Extract<RawIssue, { readonly code: Code }>) => string

const messages: { readonly [Code in RawIssue['code']]: Message<Code> } = {
  invalid_type: ({ input, expected }) => (input === undefined ? 'is required' : `must be ${typeName(expected)}`),
  too_small: (issue) => rangeMessage(issue, { minimum: issue.minimum }),
  too_big: (issue) => rangeMessage(issue, { maximum: issue.maximum }),
  invalid_format: ({ format }) => formatMessages[format] ?? `must be a valid ${format}`,
  not_multiple_of: ({ divisor }) => `must be a multiple of ${divisor}`,
  unrecognized_keys: () => 'is not a known field',
  invalid_union: () => 'does not match any allowed shape',
  invalid_key: () => 'contains an invalid key',
  invalid_element: () => 'contains an invalid item',
  invalid_value: ({ values, input }) => (input === undefined ? 'is required' : allowedValuesMessage(values)),
  custom: () => 'is invalid',
}

/** Message of an issue whose schema brings none of its own; pass it as `error` to a zod parse. */
export function issueMessage(issue: RawIssue): string {
  const say: (issue: never) => string = messages[issue.code]
  return say(issue as never)
}

/** Issues of the best matching branch of a union: the first that fails only inside the value. Empty when none does. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  return branches.find((branch) => branch.every(({ path }) => path.length > 0)) ?? []
}

/** How problems are named: `whole` is the value itself, and keys that are not the schema's own are cut short. */
export interface ProblemNames {
  readonly whole: string
  readonly fields: ReadonlySet<string>
}

function problemEntries(
  issue: Issue,
  prefix: readonly PropertyKey[],
  names: ProblemNames,
): readonly (readonly [string, string])[] {
  const path = [...prefix, ...issue.path]
  const stepOf = (key: string) => (names.fields.has(key) ? key : excerpt(key))
  const name = (...more: readonly PropertyKey[]) =>
    [...path, ...more].map((step) => stepOf(unescapeKey(String(step)))).join('.') || names.whole
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, REQUEST.problems).map((key) => [name(key), issue.message])
  if (issue.code === 'invalid_union') {
    const inner = closestBranch(issue.errors).flatMap((nested) => problemEntries(withMessage(nested), path, names))
    if (inner.length > 0) return inner
  }
  if (issue.code === 'invalid_key') {
    const [problem] = issue.issues
    return [[name(), problem ? `contains an invalid key: it ${problem.message}` : issue.message]]
  }
  return [[name(), issue.message]]
}

/** Replaces zod's own message, which issues inside a union carry. */
function withMessage(issue: Issue): Issue {
  return issue.code === 'custom' ? issue : { ...issue, message: issueMessage({ input: null, ...issue } as RawIssue) }
}

/** The first problem of each field of the value, then all: those of one field never hide another. */
function* problemsOf(issues: readonly Issue[], names: ProblemNames): Generator<readonly [string, string]> {
  const fields = Map.groupBy(issues, ({ path: [field] }) => field)
  const firsts = [...fields.values()].flatMap((own) => own.slice(0, 1))
  for (const first of firsts) yield* problemEntries(first, [], names).slice(0, 1)
  for (const issue of issues) yield* problemEntries(issue, [], names)
}

/** Problems of a failed parse by field path: the first of each path, and of REQUEST.problems paths at most. */
export function problemsByPath(error: z.core.$ZodError, names: ProblemNames): Problems {
  const found = new Map<string, string>()
  for (const [name, problem] of problemsOf(error.issues, names)) {
    if (found.size === REQUEST.problems) break
    if (!found.has(name)) found.set(name, problem)
  }
  return Object.fromEntries(found)
}
