import { isTagKey } from '../calls/tags.ts'
import { reasonOf } from '../routing/reasons.ts'
import { type TimeDimension, timeDimension } from './time-buckets.ts'

/** What reports are grouped by, besides `tag:<key>` (Supplement §10). */
export const DIMENSIONS = [
  'campaign',
  'publisher',
  'buyer',
  'target',
  'number',
  'pool',
  'reason',
  'status',
  'outcome',
  'state',
  'attribution',
  'conversionSource',
  ...timeDimension,
] as const
export type Dimension = (typeof DIMENSIONS)[number] | `tag:${string}`

/** Dimensions whose keys are ids, with the paths of the id and of its name in the rows. A pool's name is not in them. */
export const RECORD_DIMENSIONS = {
  campaign: { path: 'campaign.id', name: 'campaign.name' },
  publisher: { path: 'publisher.id', name: 'publisher.name' },
  buyer: { path: 'buyer.id', name: 'buyer.name' },
  target: { path: 'target.id', name: 'target.name' },
  number: { path: 'numberId', name: 'dialedNumber' },
  pool: { path: 'numberPoolId', name: null },
} as const
export type RecordDimension = keyof typeof RECORD_DIMENSIONS

/** Dimensions whose keys are codes, with the path of the code and its label. */
export const CODE_DIMENSIONS = {
  reason: { path: 'reasonCode', label: (code: string) => reasonOf(code).label },
  status: { path: 'status', label: (code: string) => code },
  outcome: { path: 'outcome', label: (code: string) => code },
  state: { path: 'callerState', label: (code: string) => code },
  attribution: { path: 'attribution', label: (code: string) => code },
  conversionSource: { path: 'conversionSource', label: (code: string) => code },
} as const
export type CodeDimension = keyof typeof CODE_DIMENSIONS

export function isTimeDimension(dimension: string): dimension is TimeDimension {
  return timeDimension.some((one) => one === dimension)
}

export function isRecordDimension(dimension: string): dimension is RecordDimension {
  return Object.hasOwn(RECORD_DIMENSIONS, dimension)
}

export function isCodeDimension(dimension: string): dimension is CodeDimension {
  return Object.hasOwn(CODE_DIMENSIONS, dimension)
}

/** The key of a dimension's tag; null for another dimension. */
export function tagOf(dimension: string): string | null {
  return dimension.startsWith('tag:') ? dimension.slice('tag:'.length) : null
}

/** Whether a text names a dimension. */
export function isDimension(text: string): text is Dimension {
  const tag = tagOf(text)
  return tag === null ? DIMENSIONS.some((one) => one === text) : isTagKey(tag)
}
