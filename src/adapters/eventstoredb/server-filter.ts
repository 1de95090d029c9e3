import { ALL_PARTITIONS, PARTITIONS, type PartitionRange } from '../../kernel/partition.ts'
import type { LogFilter } from '../../ports/log-filter.ts'

/** A filter as the server takes it: a .NET regular expression over the type or over the stream of an event. */
export interface ServerFilter {
  readonly on: 'type' | 'stream'
  readonly regex: string
}

const NO_MATCH = '(?!)'
/** Types and kinds of a log, roughly: what a number of them is likely to leave of it. */
const ROUGHLY_ALL = { types: 64, kinds: 8 } as const

/**
 * The server's filter for ours. It takes one kind only, so the one that is likely to leave less is chosen; the reader leaves
 * out the rest. Events of the server's own have types or streams that begin with `$`.
 */
export function serverFilterOf({ types, kinds, partitions }: LogFilter): ServerFilter {
  const ofTypes = types ? types.size / ROUGHLY_ALL.types : 1
  const ofStreams = (kinds ? kinds.size / ROUGHLY_ALL.kinds : 1) * (partitions ? sizeOf(partitions) / PARTITIONS : 1)
  if (types && ofTypes <= ofStreams) return { on: 'type', regex: anyOf(types, '$') }
  if (kinds || partitions) return { on: 'stream', regex: streamRegex(kinds, partitions) }
  return { on: 'type', regex: '^[^$]' }
}

const sizeOf = ({ from, to }: PartitionRange) => Math.max(0, to - from + 1)

/** Expression for the names of a set, each followed by `after`. */
function anyOf(names: ReadonlySet<string>, after: string): string {
  return names.size === 0 ? NO_MATCH : `^(?:${[...names].map(escaped).join('|')})${after}`
}

const escaped = (name: string) => name.replace(/[\\*+?|{}[\]()^$.#\s]/g, String.raw`\$&`)

function streamRegex(kinds: ReadonlySet<string> | undefined, partitions: PartitionRange | undefined): string {
  const partition = partitions ? `-(?:${digitsOf(partitions)})-` : '-'
  return kinds ? anyOf(kinds, partition) : `^[^-$][^-]*${partition}`
}

const hex = (digit: number) => digit.toString(16)
const digitRange = (from: number, to: number) => (from === to ? hex(from) : `[${classOf(from, to)}]`)

/** The hex digits of a range, as in a character class. */
function classOf(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, n) => hex(from + n)).join('')
}

/** Expression for the two hex digits of a range of partitions: one alternative for each first digit. */
function digitsOf(partitions: PartitionRange): string {
  const from = Math.max(partitions.from, ALL_PARTITIONS.from)
  const to = Math.min(partitions.to, ALL_PARTITIONS.to)
  if (from > to) return NO_MATCH
  const [first, last] = [from >> 4, to >> 4]
  return Array.from({ length: last - first + 1 }, (_, n) => {
    const high = first + n
    return hex(high) + digitRange(high === first ? from & 15 : 0, high === last ? to & 15 : 15)
  }).join('|')
}
