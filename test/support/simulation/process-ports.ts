import type { Carrier } from '../../../src/ports/carrier.ts'
import { CarrierUnavailable } from '../../../src/ports/carrier-numbers.ts'
import { type EventLog, LogUnavailable } from '../../../src/ports/event-log.ts'
import type { Files } from '../../../src/ports/files.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import { type ReadStore, StoreUnavailable } from '../../../src/ports/read-store.ts'
import { type FaultPlan, withFaults } from '../faults/with-faults.ts'
import type { PendingCalls, PortName } from './steps.ts'
import type { Agenda } from './time.ts'

/** The ports that outlive a process, and its scheduler. */
export interface SharedPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly views: ReadStore
  /** Where columns are kept: processes of one machine share it. */
  readonly files: Files
  readonly commands: Pick<Carrier, 'dial' | 'release'>
  readonly agenda: Agenda
  readonly steps: PendingCalls
  /** Whether the steps of a call fail now. */
  readonly isPoisoned: (callId: unknown) => boolean
  /** Whether a port is unavailable now. */
  readonly isUnavailable: (port: PortName) => boolean
}

/** Port calls that wait for their turn. All others only read, and pass at once. */
const TURNS: ReadonlySet<string> = new Set([
  'log.append',
  'log.read',
  'log.readAll',
  'log.follow',
  'ops.claim',
  'ops.putIf',
  'ops.put',
  'ops.delete',
  'ops.releaseClaim',
  'views.commit',
  'carrier.dial',
  'carrier.release',
])

const UNAVAILABLE: Readonly<Record<PortName, () => Error>> = {
  log: () => new LogUnavailable('The log does not answer.'),
  ops: () => new StoreUnavailable('The operational store does not answer.'),
  views: () => new StoreUnavailable('The read store does not answer.'),
  carrier: () => new CarrierUnavailable('The carrier does not answer.'),
}

/** A log whose tail subscription is delayed too. */
function withDelayedTail(log: EventLog, plain: EventLog, turn: () => Promise<unknown>): EventLog {
  return {
    ...log,
    async *follow(after, signal, filter) {
      for await (const page of plain.follow(after, signal, filter)) {
        if ((await turn()) === 'fail') throw UNAVAILABLE.log()
        yield page
      }
    },
  }
}

/** The ports of one process: their calls wait for their turn, and fail while the port is unavailable. */
export function openPorts(shared: SharedPorts, owner: object, isAlive: () => boolean) {
  const { steps, isUnavailable } = shared
  /** Calls of a dead process never resolve. */
  const turn = (port: PortName, step: string) =>
    isAlive() ? steps.turn(owner, port, step) : new Promise<undefined>(() => undefined)
  const faultsOf =
    (port: PortName): FaultPlan =>
    (method) => {
      const step = `${port}.${method}`
      if (TURNS.has(step) || !isAlive()) return turn(port, step)
      return isUnavailable(port) ? 'fail' : undefined
    }
  const withTurns = <Port extends object>(port: PortName, plain: Port) =>
    withFaults(plain, UNAVAILABLE[port], faultsOf(port))
  const commands = withTurns('carrier', shared.commands)
  const carrier: Carrier = {
    name: 'Simulated from outside',
    dial: (command) => commands.dial(command),
    release: (command) => commands.release(command),
    probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
    numbers: null,
    recordings: { open: async () => null },
    close: async () => undefined,
  }
  return {
    log: withDelayedTail(withTurns('log', shared.log), shared.log, () => turn('log', 'log.follow')),
    ops: withTurns('ops', shared.ops),
    store: withTurns('views', shared.views),
    carrier,
  }
}
