import { partitionText } from '../../kernel/partition.ts'
import type { LogFilter } from '../../ports/log-filter.ts'

/** A condition over the event table, and the values of its parameters. */
export interface EventCondition {
  readonly sql: string
  readonly values: readonly string[]
}

const KIND = "substr(stream, 1, instr(stream, '-') - 1)"
/** The partition with the dash behind it. */
const PARTITION = "substr(stream, instr(stream, '-') + 1, 3)"

/** The condition of a filter; null when it has every event. */
export function eventConditionOf({ types, kinds, partitions }: LogFilter): EventCondition | null {
  const conditions: EventCondition[] = []
  if (types) conditions.push(isOneOf('type', types))
  if (kinds) conditions.push(isOneOf(KIND, kinds))
  if (partitions) {
    const ends = [partitions.from, partitions.to].map((partition) => `${partitionText(partition)}-`)
    conditions.push({ sql: `${PARTITION} BETWEEN ? AND ? AND ${PARTITION} GLOB '[0-9a-f][0-9a-f]-'`, values: ends })
  }
  if (conditions.length === 0) return null
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  }
}

function isOneOf(expression: string, names: ReadonlySet<string>): EventCondition {
  return { sql: `${expression} IN (${[...names].map(() => '?').join(', ')})`, values: [...names] }
}
