import { getCall } from '../../../queries/calls/get-call.ts'
import { parseStreamName } from '../../../src/kernel/entity.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { StoreUnavailable } from '../../../src/ports/read-store.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import type { createMemoryLog } from '../memory/event-log.ts'
import type { Cluster } from './cluster.ts'
import { type CodeVersion, ForeignDocument } from './code-version.ts'
import type { SimulatedProcess } from './process.ts'
import { type RunContext, runAfter } from './run-context.ts'

/** How often a call is read from a process of each version (ms). */
const READ_EVERY_MS = 700

const READS = getCall.reads.map(({ name }) => name)

/** Reads that were answered, by version of the code, and those of the current one that did not show what they had waited for. */
export type UpgradeAnswers = Readonly<Record<CodeVersion['name'] | 'lagging', number>>

/** Reads of calls while two versions run side by side. */
export interface UpgradeReads {
  /** A sentence for each read that should have been answered and was not. */
  readonly violations: () => readonly string[]
  readonly answered: () => UpgradeAnswers
}

/**
 * Schedules a rolling upgrade: processes of the next version start beside those of the current one, which leave later; and
 * calls are read from both all the time.
 */
export function scheduleUpgrade(
  context: RunContext,
  {
    cluster,
    log,
    from,
    to,
  }: {
    readonly cluster: Cluster
    readonly log: ReturnType<typeof createMemoryLog>
    readonly from: CodeVersion
    readonly to: CodeVersion
  },
): UpgradeReads {
  const { chance, profile, agenda, trace } = context
  const [spanMs, aftermathMs] = [profile.span * 1_000, profile.aftermath * 1_000]
  const violations: string[] = []
  const answered = { current: 0, next: 0, lagging: 0 }
  const until = agenda.now() + spanMs + aftermathMs

  /** Reads a call as its writer does: up to its arrival. */
  async function read(process: SimulatedProcess, id: string, minPosition: number): Promise<void> {
    const { name } = process.code
    const request = {
      tenant: { workspaceId: WORKSPACE, timezone: 'UTC' },
      surface: 'rest',
      includeRevision: false,
    } as const
    const now = new Date(agenda.now()).toISOString()
    // A build of older code ends at the first event of the later version: what follows cannot be found there.
    const isFolded = process.reached(READS) >= minPosition
    try {
      const answer = await process.ask({ ...request, now, minPosition, name: getCall.name, params: { id }, query: {} })
      if (!isRefusal(answer)) {
        answered[name] += 1
        answered.lagging += answer.lag && name === from.name ? 1 : 0
      } else if (isFolded && process.alive())
        violations.push(`${process.name} of the ${name} version cannot find ${id}: ${answer.refused}`)
    } catch (error) {
      trace(`${process.name} cannot read ${id}: ${error}`)
      const isMissing = error instanceof StoreUnavailable && error.message.includes('is being built')
      if (error instanceof ForeignDocument)
        violations.push(`${process.name} of the ${name} version reads: ${error.message}`)
      // A process that stands still is taken for dead, and needs no builds.
      const isNeeded = name === from.name && !process.hasStoodStill()
      if (isMissing && isNeeded) violations.push(`The builds of ${process.name} are gone: ${error.message}`)
    }
  }

  function readOn(): void {
    const arrivals = log.events.filter(({ type }) => type === 'CallArrived')
    if (arrivals.length > 0) {
      const { stream, position } = chance.among(arrivals)
      for (const process of cluster.processes()) void read(process, parseStreamName(stream).id, position)
    }
    if (agenda.now() < until) runAfter(context, READ_EVERY_MS, readOn)
  }

  const startedAt = chance.pick(spanMs)
  for (let n = 0; n < chance.among([1, 2]); n += 1)
    runAfter(context, startedAt + n * chance.pick(2_000), () => cluster.start(to))
  runAfter(context, startedAt + chance.pick(spanMs + aftermathMs - startedAt), () => {
    trace(`The ${from.name} version leaves`)
    cluster.retire(from)
  })
  runAfter(context, READ_EVERY_MS, readOn)
  return { violations: () => violations.splice(0), answered: () => answered }
}
