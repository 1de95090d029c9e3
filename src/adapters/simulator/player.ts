import type { DialCommand, NoticeListener, ReleaseCommand } from '../../ports/carrier.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import { createAgenda } from './agenda.ts'
import { createCallPlan } from './call-plan.ts'
import type { CallStreamPorts, StoredCall } from './call-stream.ts'
import { createCallWriter } from './call-writer.ts'
import { dialOf, releaseEnd } from './dial.ts'
import { arrivalNotice } from './notices.ts'

/** What a played call needs. */
export interface PlayerPorts extends CallStreamPorts {
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>
  readonly listener: NoticeListener
}

/** One simulated call being played by this process. */
export interface Player {
  readonly dial: (command: DialCommand) => Promise<void>
  readonly release: (command: ReleaseCommand) => Promise<void>
  /** Notifies the platform of the arrival, or continues from the stored state. Resolves when the platform has it. */
  readonly start: () => Promise<void>
  /** Resolves when this process is done with the call: true when it has ended, false when another process plays it. */
  readonly over: Promise<boolean>
  readonly stop: () => void
}

/** Milliseconds after which the arrival of a live call is repeated. */
const RETRY_MS = 250

/**
 * Plays a call from its stored state. Everything that happens has an instant on the carrier's own clock, fixed when it is
 * decided: a live call waits for it, an instant one does not.
 */
export function createPlayer(ports: PlayerPorts, placed: PlacedCall, start: StoredCall): Player {
  const { clock, listener, secrets } = ports
  const isLive = placed.mode === 'live'
  const { promise: over, resolve } = Promise.withResolvers<boolean>()
  const agenda = createAgenda(clock, !isLive)
  const writer = createCallWriter(ports, placed, start, stop)
  const { planEnd, planDial } = createCallPlan({ placed, agenda, writer, listener, onEnded: stop })

  function stop(): void {
    writer.close()
    agenda.cancel()
    resolve(writer.state().ended)
  }

  /** Runs a command's step unless the command was executed or the call has ended. */
  function once({ commandId }: { readonly commandId: string }, step: () => Promise<void>): Promise<void> {
    return writer.serialize(async () => {
      const { ended, commands } = writer.state()
      if (!ended && !commands.includes(commandId)) await step()
    })
  }

  return {
    over,
    stop,
    async start() {
      const { dials, commands } = writer.state()
      const last = dials.at(-1)
      if (commands.length > dials.length) return planEnd()
      if (last) return planDial(last)
      if (isLive) planEnd()
      const notifyArrival = () => listener(arrivalNotice(placed, secrets))
      try {
        await notifyArrival()
      } catch (error) {
        // Whether the platform has it is unknown: the notice is repeated until it is acknowledged.
        agenda.plan(new Date(clock.now() + (isLive ? RETRY_MS : 0)).toISOString(), notifyArrival)
        throw error
      }
    },
    dial: (command) =>
      once(command, async () => {
        const dial = dialOf(placed, writer.state().dials, command)
        await writer.write({ type: 'SimulatedDialTaken', data: dial })
        planDial(dial)
      }),
    release: (command) =>
      once(command, async () => {
        const { commandId, action } = command
        const data = { commandId, action: action.kind, ends: releaseEnd(placed, command) }
        await writer.write({ type: 'SimulatedReleaseTaken', data })
        planEnd()
      }),
  }
}
