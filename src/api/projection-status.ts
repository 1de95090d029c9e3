import { z } from 'zod'
import { instant } from '../kernel/wire.ts'
import type { ApiRoute } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import { type EventLog, START } from '../ports/event-log.ts'
import type { ProjectionProgress } from '../runtime/projections/projection-progress.ts'
import type { ProjectionStatus } from '../runtime/projections/projection-runner.ts'
import { noParams } from './no-params.ts'

/** Progress of a rebuild: its position, the head of the log, and the share of positions processed (0 to 1). */
export const rebuildShape = z
  .object({ position: z.int(), head: z.int(), share: z.number() })
  .meta({ id: 'RebuildProgress' })

/** Status of a projection for operators (Supplement §2, "Operator"). */
export const projectionShape = z
  .object({
    name: z.string(),
    version: z.int(),
    position: z.int(),
    /** Recorded time of the last event processed; null before the first. */
    at: instant.nullable(),
    lagMs: z.int(),
    /** Events processed since this process started; null when another process runs the projections. */
    events: z.int().nullable(),
    state: z.enum(['running', 'standby', 'halted', 'rebuilding']),
    problem: z.string().nullable(),
    rebuild: rebuildShape.nullable(),
  })
  .meta({ id: 'Projection' })
export type ProjectionRow = z.infer<typeof projectionShape>

/** Sources of the projections' status. */
export interface StatusPorts {
  readonly readSide: {
    readonly progress: () => Promise<readonly ProjectionProgress[]>
    /** Null when another process runs the projections. */
    readonly projections: (() => Promise<readonly ProjectionStatus[]>) | null
  }
  readonly log: Pick<EventLog, 'head'>
  readonly clock: Clock
}

/** Status of every projection, from the stored checkpoints and, in the process that runs them, from the runner. @throws LogUnavailable, StoreUnavailable */
export async function projectionRows({ readSide, log, clock }: StatusPorts): Promise<readonly ProjectionRow[]> {
  const [builds, statuses, head] = await Promise.all([readSide.progress(), readSide.projections?.() ?? [], log.head()])
  return builds.map(({ name, version, active, building }): ProjectionRow => {
    const status = statuses.find((candidate) => candidate.name === name && candidate.state !== 'rebuilding')
    const position = Math.max(status?.position ?? START, active?.position ?? START)
    const at = status?.at ?? active?.at ?? null
    const built = building?.checkpoint?.position ?? START
    return {
      name,
      version,
      position,
      at,
      lagMs: status?.lagMs ?? (position >= head || at === null ? 0 : Math.max(0, clock.now() - Date.parse(at))),
      events: status?.events ?? null,
      state: stateOf(status, building !== null),
      problem: status?.problem ?? null,
      rebuild: building && { position: built, head, share: head <= START ? 1 : Math.min(1, (built + 1) / (head + 1)) },
    }
  })
}

function stateOf(status: ProjectionStatus | undefined, building: boolean): ProjectionRow['state'] {
  if (status?.state === 'halted') return 'halted'
  return building ? 'rebuilding' : (status?.state ?? 'running')
}

/** The route that lists the status of all projections. */
export function projectionRoute(ports: StatusPorts): ApiRoute {
  return {
    method: 'GET',
    path: '/api/operator/projections',
    surface: 'operator',
    scope: null,
    write: false,
    name: 'list-projections',
    summary: 'List projections and their progress',
    params: noParams,
    query: noParams,
    body: null,
    responses: { 200: z.object({ projections: z.array(projectionShape) }) },
    rejects: [],
    run: async () => ({ status: 200, body: { projections: await projectionRows(ports) }, position: null }),
  }
}
