import type { QueryPorts } from '../../src/ports/query-ports.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { createMemoryOperationalStore } from './memory-operational-store.ts'

/** The ports of queries over a read store; nothing is sealed. */
export function queryPorts(views: ReadStore): QueryPorts {
  return {
    views,
    ops: createMemoryOperationalStore(),
    publicUrl: 'http://localhost',
    secrets: { unseal: (sealed) => sealed },
  }
}
