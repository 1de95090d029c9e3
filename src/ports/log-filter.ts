import { inRange, type PartitionRange } from '../kernel/partition.ts'

/** The events of the log that concern a reader: those that meet every criterion that is given. */
export interface LogFilter {
  readonly types?: ReadonlySet<string>
  /** Kinds of streams. */
  readonly kinds?: ReadonlySet<string>
  /** Partitions of streams. An event of a stream without a partition in its name is in none. */
  readonly partitions?: PartitionRange
}

/** Every event. */
export const ALL_EVENTS: LogFilter = {}

const PARTITION_DIGITS = /^[0-9a-f]{2}-/

/** Whether a filter has an event. */
export function matchesFilter(
  { types, kinds, partitions }: LogFilter,
  { stream, type }: { readonly stream: string; readonly type: string },
): boolean {
  if (types && !types.has(type)) return false
  if (!kinds && !partitions) return true
  const dash = stream.indexOf('-')
  if (dash < 0 || (kinds && !kinds.has(stream.slice(0, dash)))) return false
  if (!partitions) return true
  const rest = stream.slice(dash + 1, dash + 4)
  return PARTITION_DIGITS.test(rest) && inRange(partitions, Number.parseInt(rest, 16))
}
