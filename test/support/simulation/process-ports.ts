import type { AnyProjection } from '../../../src/kernel/projection.ts'
import type { Carrier } from '../../../src/ports/carrier.ts'
import { CarrierUnavailable } from '../../../src/ports/carrier-numbers.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { type EventLog, LogUnavailable } from '../../../src/ports/event-log.ts'
import type { Files } from '../../../src/ports/files.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import { type ReadStore, StoreUnavailable } from '../../../src/ports/read-store.ts'
import { type FaultPlan, withFaults } from '../faults/with-faults.ts'
import type { CodeVersion } from './code-version.ts'
import type { Receivers, Sender } from './receivers.ts'
import type { Met, PendingCalls, PortName } from './steps.ts'
import type { Agenda } from './time.ts'

/** The ports that outlive a process, and its scheduler. */
export interface SharedPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly views: ReadStore
  /** Where columns are kept: processes of one machine share it. */
  readonly files: Files
  readonly commands: Pick<Carrier, 'dial' | 'release'>
  readonly receivers: Receivers
  /** The read models that a version projects. */
  readonly simulated: (code: CodeVersion) => readonly AnyProjection[]
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

const UNAVAILABLE: Readonly<Record<Exclude<PortName, 'network'>, () => Error>> = {
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

/** A process, as its ports know it. */
interface OwnerOfPorts {
  readonly name: string
  readonly isAlive: () => boolean
  readonly hasStoodStill: () => boolean
  readonly clock: Clock
}

/** The ports of one process: their calls wait for their turn, and fail while the port is unavailable. */
export function openPorts(shared: SharedPorts, owner: object, { name, isAlive, hasStoodStill, clock }: OwnerOfPorts) {
  const { steps, isUnavailable } = shared
  let faults = 0
  /** Calls of a dead process never resolve. */
  async function turn(port: PortName, step: string): Promise<Met | undefined> {
    const fault = await (isAlive() ? steps.turn(owner, port, step) : new Promise<undefined>(() => undefined))
    if (fault !== undefined) faults += 1
    return fault
  }
  const faultsOf =
    (port: PortName): FaultPlan =>
    (method) => {
      const step = `${port}.${method}`
      if (TURNS.has(step) || !isAlive()) return turn(port, step)
      if (!isUnavailable(port)) return undefined
      faults += 1
      return 'fail'
    }
  const withTurns = <Port extends object>(port: Exclude<PortName, 'network'>, plain: Port) =>
    withFaults(plain, UNAVAILABLE[port], faultsOf(port))
  const sender: Sender = { name, alive: isAlive, hasStoodStill, faults: () => faults }
  const after = (ms: number) => new Promise<void>((resolve) => void clock.schedule(clock.now() + ms, resolve))
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
    receivers: shared.receivers.egressOf(sender, () => turn('network', 'network.send'), after),
  }
}
