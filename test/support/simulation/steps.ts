import type { Fault } from '../faults/with-faults.ts'
import type { Chance } from './chance.ts'

/** What becomes of a step when its turn comes: it is done, or one of the faults; `gone` never happens. */
export type Fate = Exclude<Fault, Promise<unknown>> | 'done' | 'gone'

export type PortName = 'log' | 'ops' | 'views' | 'carrier'

/** A call of a process to something outside it, which waits for its turn. */
export interface PendingCall {
  /** Who waits for it. */
  readonly owner: object
  readonly port: PortName
  /** Port and method: `log.append`. */
  readonly name: string
  readonly meet: (fate: Fate) => void
}

/** All that waits for its turn, of every process. */
export interface PendingCalls {
  /** Resolves when the turn has come, to what is to happen then. */
  readonly turn: (owner: object, port: PortName, name: string) => Promise<Fault | undefined>
  readonly count: () => number
  /** Takes one out, by chance; null when nothing waits. */
  readonly draw: (chance: Chance) => PendingCall | null
  /** Takes out all that an owner waits for. */
  readonly drawAll: (owner: object) => readonly PendingCall[]
}

/** Steps, none at first. */
export function createPendingCalls(): PendingCalls {
  let waiting: PendingCall[] = []
  return {
    turn: (owner, port, name) =>
      new Promise((resolve) => {
        const meet = (fate: Fate) => {
          if (fate !== 'gone') resolve(fate === 'done' ? undefined : fate)
        }
        waiting.push({ owner, port, name, meet })
      }),
    count: () => waiting.length,
    draw: (chance) => (waiting.length === 0 ? null : (waiting.splice(chance.pick(waiting.length), 1)[0] ?? null)),
    drawAll(owner) {
      const its = waiting.filter((step) => step.owner === owner)
      waiting = waiting.filter((step) => step.owner !== owner)
      return its
    },
  }
}

/** Lets all that is ready to run run. */
export async function flushEventLoop(turns = 2): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
