import { z } from 'zod'
import { instant } from '../kernel/wire.ts'
import type { ApiRoute } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import { type EventLog, START } from '../ports/event-log.ts'
import type { ProjectionProgress } from '../runtime/projections/projection-progress.ts'
import type { ProjectionStatus } from '../runtime/projections/projection-runner.ts'
import { noParams } from './no-params.ts'

/** How a new build is getting on: where it has read to, of where the log ends; `share` is by positions. */
export const rebuildShape = z.object({ position: z.int(), head: z.int(), share: z.number() })

/** A projection, as the platform's staff sees it (Supplement §2, "Operator"). */
export const projectionShape = z.object({
  name: z.string(),
  version: z.int(),
  position: z.int(),
  /** Recorded time of the last event that it has seen. */
  at: instant.nullable(),
  lagMs: z.int(),
  /** Events folded since the process that answers began; null where another process folds them. */
  events: z.int().nullable(),
  state: z.enum(['running', 'standby', 'halted', 'rebuilding']),
  problem: z.string().nullable(),
  rebuild: rebuildShape.nullable(),
})
export type ProjectionRow = z.infer<typeof projectionShape>

/** What tells of the projections. */
export interface StatusPorts {
  readonly readSide: {
    readonly builds: () => Promise<readonly ProjectionProgress[]>
    /** Null where another process runs the projections. */
    readonly projections: (() => Promise<readonly ProjectionStatus[]>) | null
  }
  readonly log: Pick<EventLog, 'head'>
  readonly clock: Clock
}

/** Every projection as it stands: by the stored checkpoints, and by the runner where it is of this process. */
export async function projectionRows({ readSide, log, clock }: StatusPorts): Promise<readonly ProjectionRow[]> {
  const [builds, statuses, head] = await Promise.all([readSide.builds(), readSide.projections?.() ?? [], log.head()])
  return builds.map(({ name, version, active, building }): ProjectionRow => {
    const own = statuses.find((status) => status.name === name && status.state !== 'rebuilding')
    const position = Math.max(own?.position ?? START, active?.position ?? START)
    const at = own?.at ?? active?.at ?? null
    const read = building?.checkpoint?.position ?? START
    return {
      name,
      version,
      position,
      at,
      lagMs: own?.lagMs ?? (position >= head || at === null ? 0 : Math.max(0, clock.now() - Date.parse(at))),
      events: own?.events ?? null,
      state: stateOf(own, building !== null),
      problem: own?.problem ?? null,
      rebuild: building && { position: read, head, share: head <= START ? 1 : Math.min(1, (read + 1) / (head + 1)) },
    }
  })
}

function stateOf(own: ProjectionStatus | undefined, building: boolean): ProjectionRow['state'] {
  if (own?.state === 'halted') return 'halted'
  return building ? 'rebuilding' : (own?.state ?? 'running')
}

/** The route that lists them. */
export function projectionRoute(ports: StatusPorts): ApiRoute {
  return {
    method: 'GET',
    path: '/api/operator/projections',
    surface: 'operator',
    scope: null,
    write: false,
    name: 'list-projections',
    summary: 'List the projections, and how far each has come',
    params: noParams,
    query: noParams,
    body: null,
    responses: { 200: z.object({ projections: z.array(projectionShape) }) },
    rejects: [],
    run: async () => ({ status: 200, body: { projections: await projectionRows(ports) }, position: null }),
  }
}
