import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import type { Upcasts } from '../upcasts.ts'
import type { ProjectionLane } from './projection-lane.ts'

/** Why a projection is halted until its code is fixed. */
export interface Halt {
  readonly name: string
  readonly version: number
  readonly position: number
  readonly eventType: string
  readonly message: string
}

/** What lanes are advanced with. */
export interface BuildPorts {
  readonly log: EventLog
  readonly store: ReadStore
  readonly clock: Clock
  readonly upcasts: Upcasts
  /** The lane's documents reflect its position; `touched` are the ids just written, in these workspaces (null: any). */
  readonly report: (lane: ProjectionLane, touched: readonly string[], workspaces: readonly string[] | null) => void
  readonly onHalt: (halt: Halt) => void
}
