import type { ApiRoute } from '../ports/api.ts'
import { buyerWrites } from './writes/buyers.ts'
import type { Write, WriteTools } from './writes/write.ts'

/** Every write that has a route. */
const writes: readonly Write[] = [...buyerWrites]

/** The routes of all writes. */
export function writeRoutes(tools: WriteTools): readonly ApiRoute[] {
  return writes.flatMap((write) => write(tools))
}
