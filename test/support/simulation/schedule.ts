import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { Random } from '../../../src/ports/random.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import type { SimulatedCarrier } from './carrier.ts'
import type { Cluster } from './cluster.ts'
import { createPublishers } from './publishers.ts'
import { type RunContext, runAfter } from './run-context.ts'
import type { PortName } from './steps.ts'
import { someAction, someCaller } from './user-actions.ts'
import { simulatedCommandCall } from './world.ts'

const PORTS: readonly PortName[] = ['log', 'ops', 'views', 'carrier', 'network']
const OUTAGES_MS = [500, 5_000, 60_000]
/** How long (ms) a process stands still: too short to be taken for dead, and longer than that. */
const STALLS_MS = [1_000, 6_000, 30_000]

/** Schedules the calls, pings, user actions and outages of a run. */
export function scheduleRun(
  context: RunContext,
  { carrier, ids, cluster }: { readonly carrier: SimulatedCarrier; readonly ids: Random; readonly cluster: Cluster },
): void {
  const { chance, profile, world, trace, agenda, unavailableUntil } = context
  const [spanMs, aftermathMs] = [profile.span * 1_000, profile.aftermath * 1_000]
  const placed: string[] = []
  for (let n = 0; n < profile.calls; n += 1) {
    runAfter(context, chance.pick(spanMs), () => {
      const callId = ids.uuid()
      placed.push(callId)
      if (n < profile.poisoned) context.poisoned.add(callId)
      carrier.place({ workspaceId: WORKSPACE, callId, to: chance.among(world.lines).e164, from: someCaller(chance) })
    })
  }
  const publishers = createPublishers(context, {
    retryUntilDone: cluster.retryUntilDone,
    place(call) {
      const callId = ids.uuid()
      placed.push(callId)
      carrier.place({ workspaceId: WORKSPACE, callId, ...call })
    },
  })
  for (let n = 0; n < profile.pings; n += 1) runAfter(context, chance.pick(spanMs), publishers.ping)
  for (let n = 0; n < profile.actions; n += 1) {
    runAfter(context, chance.pick(spanMs + aftermathMs), () => {
      const { command, input } = someAction(chance, world, placed)
      const sent = command.input.parse(input)
      cluster.retryUntilDone(command.name, async ({ handle }) => {
        const outcome = await handle(command, sent, simulatedCommandCall(`act-${n}`))
        trace(`${command.name} ${isRefusal(outcome) ? outcome.refused : outcome.events.map(({ type }) => type)}`)
      })
    })
  }
  for (let n = 0; n < profile.stalls; n += 1) {
    runAfter(context, chance.pick(spanMs + aftermathMs / 2), () => {
      const processes = cluster.processes()
      if (processes.length === 0) return
      const process = chance.among(processes)
      process.standStill(agenda.now() + chance.among(STALLS_MS))
      trace(`${process.name} stands still`)
    })
  }
  for (let n = 0; n < profile.outages; n += 1) {
    runAfter(context, chance.pick(spanMs + aftermathMs / 2), () => {
      const port = chance.among(PORTS)
      unavailableUntil.set(port, agenda.now() + chance.among(OUTAGES_MS))
      trace(`${port} is unavailable`)
    })
  }
}
