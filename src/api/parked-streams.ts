import { z } from 'zod'
import { id, instant } from '../kernel/wire.ts'
import type { ApiRoute } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import { listParked, type ParkedStream } from '../runtime/reactions/parked-streams.ts'
import { noParams } from './no-params.ts'

/** A stream that a reaction does not go on with (Supplement §2, "Operator"). */
export const parkedShape = z
  .object({
    id,
    reaction: z.string(),
    stream: z.string(),
    workspaceId: id.nullable(),
    type: z.string(),
    at: instant,
    attempts: z.int(),
    problem: z.string(),
    waiting: z.int(),
  })
  .meta({ id: 'ParkedStream' })

/** A parked stream as operators see it. */
export function parkedRow(parked: ParkedStream): z.infer<typeof parkedShape> {
  const { id: parkedId, reaction, stream, workspaceId, type, at, attempts, problem, waiting } = parked
  return { id: parkedId, reaction, stream, workspaceId, type, at, attempts, problem, waiting }
}

/** The route that lists the parked streams, the longest parked first. */
export function parkedRoute({ ops, clock }: { readonly ops: OperationalStore; readonly clock: Clock }): ApiRoute {
  return {
    method: 'GET',
    path: '/api/operator/parked',
    surface: 'operator',
    scope: null,
    write: false,
    name: 'list-parked-streams',
    summary: 'List the streams that reactions have parked',
    params: noParams,
    query: noParams,
    body: null,
    responses: { 200: z.object({ parked: z.array(parkedShape) }) },
    rejects: [],
    async run() {
      const parked = await listParked(ops, clock.now())
      const rows = parked.map(parkedRow).toSorted((one, other) => (one.at < other.at ? -1 : 1))
      return { status: 200, body: { parked: rows }, position: null }
    },
  }
}
