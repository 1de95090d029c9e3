import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { SeenAnswer } from '../oracle/offers-at-hand.ts'
import type { Chance } from './chance.ts'
import type { Profile } from './profile.ts'
import type { PortName } from './steps.ts'
import type { Agenda } from './time.ts'
import type { SimulatedEndpoint, SimulatedWorld } from './world.ts'

/** What the parts of a run share. */
export interface RunContext {
  readonly world: SimulatedWorld
  /** The events of the configuration. */
  readonly configured: readonly RecordedEvent[]
  readonly endpoints: readonly SimulatedEndpoint[]
  readonly chance: Chance
  readonly profile: Profile
  readonly agenda: Agenda
  /** Whether faults still happen. */
  faulty: boolean
  /** Until when (ms) a port is unavailable. */
  readonly unavailableUntil: Map<PortName, number>
  /** Ids of calls whose steps fail. */
  readonly poisoned: Set<string>
  /** Answers to pings that publishers have seen. */
  readonly answers: SeenAnswer[]
  /** How often an operator found a parked stream. */
  parked: number
  readonly trace: (line: string) => void
}

/** Runs something later, in simulated milliseconds. */
export const runAfter = ({ agenda }: Pick<RunContext, 'agenda'>, ms: number, run: () => void): void =>
  void agenda.at(agenda.now() + ms, run)

/** Whether a port is unavailable now. */
export const isUnavailable = ({ faulty, unavailableUntil, agenda }: RunContext, port: PortName): boolean =>
  faulty && (unavailableUntil.get(port) ?? 0) > agenda.now()
