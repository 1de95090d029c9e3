import type { CallBooks } from '../../src/domain/reporting/book-rows.ts'
import type { Conditions, Filter, Scalar } from '../../src/ports/read-store.ts'
import type { CallSelection } from '../shared/call-filter.ts'

type Condition = Filter[string]

/** The conditions of a call filter on the books, by what they are about. */
export interface BookSelection {
  readonly workspaceId: string
  readonly fromMs: number
  readonly toMs: number
  /** On the call: dimensions and figures that are the same in each of its rows. */
  readonly ofCall: Filter
  /** On the row: dimensions that change. */
  readonly ofRow: Filter
  /** On the tags, by stored key. */
  readonly ofTags: readonly (readonly [key: string, condition: Condition])[]
  /** On the caller's number or the reference, which the call log finds by an index; null for none. */
  readonly ofCaller: Filter | null
}

const OF_ROW = ['outcome', 'hasRecording']
const OF_CALLER = ['callerReversed', 'ref']
const TAGS = 'tags.'

function pick(filter: Filter, isWanted: (path: string) => boolean): Filter {
  return Object.fromEntries(
    Object.entries(filter).filter(([path, condition]) => condition !== undefined && isWanted(path)),
  )
}

/** The selection of calls in the books. */
export function bookSelectionOf({ filter, from, to }: CallSelection, workspaceId: string): BookSelection {
  const isOther = (path: string) =>
    path !== 'workspaceId' &&
    path !== 'startedMs' &&
    !OF_ROW.includes(path) &&
    !OF_CALLER.includes(path) &&
    !path.startsWith(TAGS)
  const ofCaller = pick(filter, (path) => OF_CALLER.includes(path))
  return {
    workspaceId,
    fromMs: Date.parse(from),
    toMs: Date.parse(to),
    ofCall: pick(filter, isOther),
    ofRow: pick(filter, (path) => OF_ROW.includes(path)),
    ofTags: Object.entries(pick(filter, (path) => path.startsWith(TAGS))).map(([path, condition]) => [
      path.slice(TAGS.length),
      condition,
    ]),
    ofCaller: Object.keys(ofCaller).length === 0 ? null : ofCaller,
  }
}

const isConditions = (condition: Condition): condition is Conditions =>
  typeof condition === 'object' && condition !== null && !Array.isArray(condition)

/** Whether a value meets a condition of the call list: equality, one of several, or unequal. */
export function meets(value: Scalar, condition: Condition): boolean {
  if (!isConditions(condition)) return value === condition
  const { $in, $ne } = condition
  return ($in === undefined || $in.includes(value)) && ($ne === undefined || value !== $ne)
}

/** The conditions on documents of the books, within a span of starts (ms). */
export function documentFilter({ workspaceId, ofCall }: BookSelection, fromMs: number, belowMs: number): Filter {
  return { ...ofCall, workspaceId, startedMs: { $gte: fromMs, $lt: belowMs } }
}

/** What is read of a call by a path of the columns. */
export function valueOfCall(books: CallBooks, path: string): Scalar {
  let value: unknown = books
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null) return null
    value = Reflect.get(value, step)
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
