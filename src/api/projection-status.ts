import { z } from 'zod'
import { rangeText } from '../kernel/partition.ts'
import type { AnyProjection } from '../kernel/projection.ts'
import { instant } from '../kernel/wire.ts'
import type { ApiRoute } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import { type EventLog, START } from '../ports/event-log.ts'
import { oldestUnfolded } from '../runtime/projections/oldest-unfolded.ts'
import type { BuildProgress, ProjectionProgress } from '../runtime/projections/projection-progress.ts'
import type { ProjectionStatus } from '../runtime/projections/projection-runner.ts'
import { noParams } from './no-params.ts'

/** Progress of a rebuild: its position, the head of the log, and the share of positions processed (0 to 1). */
export const rebuildShape = z
  .object({ position: z.int(), head: z.int(), share: z.number() })
  .meta({ id: 'RebuildProgress' })

const laneShape = z
  .object({ range: z.string(), position: z.int(), holder: z.string().nullable() })
  .meta({ id: 'ProjectionBuildLane' })

const buildShape = z
  .object({ version: z.int(), active: z.boolean(), position: z.int(), lanes: z.array(laneShape) })
  .meta({ id: 'ProjectionBuild' })

/** Status of a projection for operators (Supplement §2, "Operator"). */
export const projectionShape = z
  .object({
    name: z.string(),
    version: z.int(),
    position: z.int(),
    /** Recorded time of the last event processed; null before the first. */
    at: instant.nullable(),
    lagMs: z.int(),
    /** Age of the oldest event that has not been folded yet; null where there is none. */
    oldestMs: z.int().nullable(),
    /** Events processed since this process started; null when another process runs the projections. */
    events: z.int().nullable(),
    state: z.enum(['running', 'standby', 'halted', 'outdated', 'rebuilding']),
    problem: z.string().nullable(),
    /** Processes that hold the leases of the active build of this version. */
    holders: z.array(z.string()),
    builds: z.array(buildShape),
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
  readonly projections: readonly Pick<AnyProjection, 'name' | 'events'>[]
  readonly log: Pick<EventLog, 'head' | 'readAll'>
  readonly clock: Clock
}

/** The status of a projection in this process: that of the lane that has come least far, and any problem of another. */
function statusOf(
  statuses: readonly ProjectionStatus[],
  name: string,
): (ProjectionStatus & { readonly ownsAll: boolean }) | undefined {
  const lanes = statuses.filter((lane) => lane.name === name && lane.state !== 'rebuilding')
  const worst = lanes.find(({ state }) => state === 'halted' || state === 'outdated')
  const own = lanes.filter(({ state }) => state === 'running')
  const [first, ...others] = own.length > 0 ? own : lanes
  if (!first) return undefined
  const lowest = others.reduce((least, lane) => (lane.position < least.position ? lane : least), first)
  const lagMs = Math.max(...lanes.map((lane) => lane.lagMs))
  const events = lanes.reduce((sum, lane) => sum + lane.events, 0)
  const ownsAll = own.length === lanes.length
  return { ...lowest, ownsAll, ...(worst && { state: worst.state, problem: worst.problem }), lagMs, events }
}

/** Age (ms) of the oldest event that the build that is read has not folded; null for none. @throws LogUnavailable */
async function oldestMs(ports: StatusPorts, name: string, active: BuildProgress | null): Promise<number | null> {
  const projection = ports.projections.find((one) => one.name === name)
  return projection && active ? oldestUnfolded(ports, projection, active) : null
}

const buildRow = ({ version, active, checkpoint, lanes }: BuildProgress) => ({
  version,
  active,
  position: checkpoint?.position ?? START,
  lanes: lanes.map(({ range, position, holder }) => ({ range: rangeText(range), position, holder })),
})

function rebuildOf(building: BuildProgress | null, head: number): ProjectionRow['rebuild'] {
  if (!building) return null
  const position = building.checkpoint?.position ?? START
  return { position, head, share: head <= START ? 1 : Math.min(1, (position + 1) / (head + 1)) }
}

/** Status of every projection, from the stored checkpoints and, in the process that runs them, from the runner. @throws LogUnavailable, StoreUnavailable */
export async function projectionRows(ports: StatusPorts): Promise<readonly ProjectionRow[]> {
  const { readSide, log, clock } = ports
  const [all, statuses, head] = await Promise.all([readSide.progress(), readSide.projections?.() ?? [], log.head()])
  return Promise.all(
    all.map(async ({ name, version, active, building, others }): Promise<ProjectionRow> => {
      const status = statusOf(statuses, name)
      const stored = active?.checkpoint?.position ?? START
      const position = status?.ownsAll ? Math.max(status.position, stored) : stored
      const at = status?.at ?? active?.checkpoint?.at ?? null
      return {
        name,
        version,
        position,
        at,
        lagMs: status?.lagMs ?? (position >= head || at === null ? 0 : Math.max(0, clock.now() - Date.parse(at))),
        oldestMs: position >= head ? null : await oldestMs(ports, name, active),
        events: status?.events ?? null,
        state: stateOf(status, building !== null || active === null),
        problem: status?.problem ?? null,
        holders: [...new Set(active?.lanes.flatMap(({ holder }) => holder ?? []))],
        builds: [active, building, ...others].filter((build) => build !== null).map(buildRow),
        rebuild: rebuildOf(building, head),
      }
    }),
  )
}

/** `building`: a build is not complete, or has to be made by a process of this version. */
function stateOf(status: ProjectionStatus | undefined, building: boolean): ProjectionRow['state'] {
  if (status?.state === 'halted' || status?.state === 'outdated') return status.state
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
