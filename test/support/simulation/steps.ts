import type { Fault } from '../faults/with-faults.ts'
import type { Chance } from './chance.ts'

/** What happens to a pending call: it is done, or meets a fault; `gone` means that it never happens. */
export type Fate = Met | 'done' | 'gone'

/** The fault that a call meets when it is its turn. */
export type Met = Exclude<Fault, Promise<unknown>>

export type PortName = 'log' | 'ops' | 'views' | 'carrier' | 'network'

/** A call of a process to a port, waiting for its turn. */
export interface PendingCall {
  /** The process that made the call. */
  readonly owner: object
  readonly port: PortName
  /** Port and method, such as `log.append`. */
  readonly name: string
  readonly resolve: (fate: Fate) => void
}

/** The pending calls of all processes. */
export interface PendingCalls {
  /** Adds a call; resolves with its fault once it is its turn. */
  readonly turn: (owner: object, port: PortName, name: string) => Promise<Met | undefined>
  readonly count: () => number
  /** Removes one call at random, of a process that does not stand still; null when there is none. */
  readonly draw: (chance: Chance, isStill: (owner: object) => boolean) => PendingCall | null
  /** Removes all calls of a process. */
  readonly drawAll: (owner: object) => readonly PendingCall[]
}

/** Creates an empty set of pending calls. */
export function createPendingCalls(): PendingCalls {
  let waiting: PendingCall[] = []
  return {
    turn: (owner, port, name) =>
      new Promise((settle) => {
        const resolve = (fate: Fate) => {
          if (fate !== 'gone') settle(fate === 'done' ? undefined : fate)
        }
        waiting.push({ owner, port, name, resolve })
      }),
    count: () => waiting.length,
    draw(chance, isStill) {
      const places = waiting.flatMap(({ owner }, place) => (isStill(owner) ? [] : [place]))
      return places.length === 0 ? null : (waiting.splice(chance.among(places), 1)[0] ?? null)
    },
    drawAll(owner) {
      const its = waiting.filter((step) => step.owner === owner)
      waiting = waiting.filter((step) => step.owner !== owner)
      return its
    },
  }
}
