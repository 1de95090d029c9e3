import { deliveries } from '../../../projections/delivery/deliveries.ts'
import { reactions } from '../../../src/main/platform-effects.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import type { ReadStore } from '../../../src/ports/read-store.ts'
import {
  readActiveCollections,
  readActivePositions,
  readAliases,
} from '../../../src/runtime/projections/build-alias.ts'
import { coverageOf, lowestOf } from '../../../src/runtime/projections/coverage.ts'
import { readReactionPositions } from '../../../src/runtime/reactions/reaction-checkpoint.ts'
import type { Oracle } from '../oracle/oracle.ts'
import type { CodeVersion } from './code-version.ts'
import type { SharedPorts } from './process-ports.ts'

/** The work that a simulated system has left to do. */
export interface Backlog {
  /** Projections and reactions whose position is behind the head of the log. */
  readonly behind: readonly string[]
  /** Whether any call has work left to do. */
  readonly open: boolean
  /** The instant (ms) of the next scheduled job, or attempt of a delivery; null when there is none. */
  readonly nextDue: number | null
  /** When to look again (ms) where nothing but the builds of a version that has left is to be dropped; null otherwise. */
  readonly cleansAt: number | null
}

/** How often is looked whether unread builds are dropped (ms). */
const CLEANING_MS = 30_000

/** Builds of other versions of the code, which are dropped when nobody reads them any more. */
async function unreadBuilds(views: ReadStore, { projections }: CodeVersion): Promise<readonly string[]> {
  const versions = new Map(projections.map(({ name, version }) => [name, version]))
  return [...(await readAliases(views)).values()].flatMap(({ name, alias }) => {
    const others = alias.versions.filter(({ version }) => version !== versions.get(name))
    return [...others, ...alias.retired].map(({ version }) => `${name}@${version} is there`)
  })
}

/** When the next attempt of a delivery is due (ms); null when none waits. */
async function nextAttemptAt(views: ReadStore, { projections }: CodeVersion): Promise<number | null> {
  const collection = (await readActiveCollections(views, projections)).get(deliveries.name)
  if (!collection) return null
  const [row] = await views.find(collection, { filter: { dueMs: { $gt: 0 } }, sort: { dueMs: 1 }, limit: 1 })
  return row ? Number(row.doc.dueMs) : null
}

/** Reads the backlog from the stores while all processes are idle. */
export async function backlogOf(
  stores: {
    readonly log: EventLog
    readonly ops: OperationalStore
    readonly views: ReadStore
    readonly simulated: SharedPorts['simulated']
  },
  code: CodeVersion,
  oracle: Pick<Oracle, 'open'>,
  now: number,
): Promise<Backlog> {
  const { log, ops, views } = stores
  const simulated = stores.simulated(code)
  const head = await log.head()
  const projected = await readActivePositions(views, simulated)
  const reacted = reactions.map(async ({ name }) => {
    const checkpoints = [...(await readReactionPositions(ops, name, now))].map(([lane, { position }]) => [
      lane,
      { position, at: null },
    ])
    return [name, lowestOf(coverageOf(Object.fromEntries(checkpoints), name)).position] as const
  })
  const positions = [
    ...simulated.map(({ name }) => [name, projected.get(name) ?? -1] as const),
    ...(await Promise.all(reacted)),
  ]
  const lagging = positions.flatMap(([name, position]) =>
    position < head ? [`${name} at ${position} of ${head}`] : [],
  )
  const unread = await unreadBuilds(views, code)
  const behind = [...lagging, ...unread]
  const timers = (await readActiveCollections(views, code.projections)).get('timers')
  const [row] = timers ? await views.find(timers, { filter: {}, sort: { dueAt: 1 }, limit: 1 }) : []
  const due = [row && Number(row.doc.dueAt), await nextAttemptAt(views, code)]
  const instants = due.filter((instant) => typeof instant === 'number')
  const nextDue = instants.length === 0 ? null : Math.min(...instants)
  const cleansAt = lagging.length === 0 && unread.length > 0 ? now + CLEANING_MS : null
  const open = behind.length === 0 && oracle.open(now).length > 0
  return { behind, open, nextDue, cleansAt }
}
