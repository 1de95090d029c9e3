import { z } from 'zod'
import type { EventSchemas, RecordedEvent } from '../../src/kernel/event.ts'
import { PARTITIONS, partitionOf } from '../../src/kernel/partition.ts'
import { defineProjection, type Projection } from '../../src/kernel/projection.ts'
import { cents, id } from '../../src/kernel/wire.ts'

/** Work that falls due: one document for each kind of job and subject. */
export const timer = z.object({
  workspaceId: id,
  /** Partition of the workspace: a process runs the timers of the partitions that it owns. */
  partition: z
    .int()
    .min(0)
    .max(PARTITIONS - 1),
  kind: z.string(),
  /** Milliseconds since the epoch. */
  dueAt: z.int(),
  /** The call, order, number, auction or pool that the job is about. */
  subjectId: id,
  /** Amount that falls due; only jobs of the kind `usage` have one. */
  amountCents: cents.nullable(),
  /** Leases of the pool that have not ended; only the kind `lease_end` counts them. */
  openLeases: z.int().optional(),
})
export type TimerRow = z.infer<typeof timer>

/** A timer as its context schedules it; the partition follows from the workspace. */
export type ScheduledTimer = Omit<TimerRow, 'partition'>

/** The scheduled jobs of one context: the events that schedule, move and remove its timers. */
export interface Jobs<S extends EventSchemas> extends Pick<Projection<TimerRow, S>, 'events' | 'update'> {
  readonly create: Projection<ScheduledTimer, S>['create']
  /** Ids of the timers that an event touches. */
  readonly key: (event: RecordedEvent) => string | readonly string[] | null
}

/** Defines the scheduled jobs of a context. */
export function defineJobs<const S extends EventSchemas>(jobs: {
  readonly events: S
  readonly key: Jobs<NoInfer<S>>['key']
  readonly create: Jobs<NoInfer<S>>['create']
  readonly update: Jobs<NoInfer<S>>['update']
}): Jobs<S> {
  return jobs
}

/** Id of the timer of a job. */
export function timerId(kind: string, subjectId: string): string {
  return `${kind}:${subjectId}`
}

/** A timer that falls due some seconds after the event that schedules it; null outside a workspace. */
export function timerAfter(
  { meta }: { readonly meta: { readonly workspaceId: string | null; readonly at: string } },
  kind: string,
  subjectId: string,
  seconds: number,
): ScheduledTimer | null {
  const { workspaceId, at } = meta
  if (workspaceId === null) return null
  return { workspaceId, kind, dueAt: Date.parse(at) + seconds * 1_000, subjectId, amountCents: null }
}

// biome-ignore lint/suspicious/noExplicitAny: each context schedules by its own events.
type AnyJobs = Jobs<any>

/** Creates the timers of a context with their partitions. */
function createRows({ create }: AnyJobs): AnyJobs['create'] {
  const rows = Object.entries(create).map(([type, schedule]) => [
    type,
    (event: RecordedEvent, timer: string): TimerRow | null => {
      const scheduled = schedule?.(event, timer) ?? null
      return scheduled && { ...scheduled, partition: partitionOf(scheduled.workspaceId) }
    },
  ])
  return Object.fromEntries(rows)
}

/**
 * The `timers` projection over the jobs of all contexts. A timer is removed when its job is done; the timer of rent moves on.
 * @throws Error when two contexts list the same event
 */
export function timersOf(contexts: readonly AnyJobs[]): Projection<TimerRow> {
  const owners = new Map<string, AnyJobs>()
  for (const jobs of contexts) {
    for (const type of Object.keys(jobs.events)) {
      if (owners.has(type)) throw new Error(`Two contexts schedule jobs by the event ${type}.`)
      owners.set(type, jobs)
    }
  }
  return defineProjection({
    name: 'timers',
    // 5: ends of leases.
    version: 5,
    events: Object.assign({}, ...contexts.map(({ events }) => events)),
    doc: timer,
    indexes: [{ kind: 1, dueAt: 1 }],
    key: (event) => owners.get(event.type)?.key(event) ?? null,
    create: Object.assign({}, ...contexts.map(createRows)),
    update: Object.assign({}, ...contexts.map(({ update }) => update)),
  })
}
