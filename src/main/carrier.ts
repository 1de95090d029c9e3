import { numbers } from '../../projections/supply/numbers.ts'
import { createSimulatedNumbers } from '../adapters/simulator/numbers.ts'
import { openSimulator, type SimulatorPorts } from '../adapters/simulator/simulator.ts'
import type { TelnyxCarrier, TelnyxPorts, TelnyxSettings } from '../adapters/telnyx/telnyx.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { areaCodes } from '../domain/shared/nanp.ts'
import { isDelivering } from '../domain/supply/number.ts'
import { collectionOf } from '../kernel/projection.ts'
import type { Carrier } from '../ports/carrier.ts'
import type { CommandHandler } from '../ports/command-handler.ts'
import type { ReadStore } from '../ports/read-store.ts'
import { sipPasswordPlace } from '../ports/sealed-places.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Simulator } from '../ports/simulated-carrier.ts'
import { createJobRunner } from '../runtime/reactions/job-runner.ts'
import type { Config } from './config.ts'

/** What the look-ups of a carrier read. */
export interface CarrierPorts {
  readonly writer: CommandHandler
  readonly views: Pick<ReadStore, 'find'>
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>
}

/** How many of the workspaces that have held a number are checked, newest first. */
const HOLDERS = 20

type Lookups = Pick<TelnyxPorts, 'workspaceOf' | 'numberOf' | 'dialSettings'>

/** The workspace of a number and the dial settings of a target, by the configuration at that moment. */
export function carrierLookups({ writer, views, secrets }: CarrierPorts): Lookups {
  return {
    async workspaceOf(e164) {
      const held = { filter: { e164 }, sort: { createdAt: -1 }, limit: HOLDERS } as const
      for (const { doc } of await views.find(collectionOf(numbers), held)) {
        const { workspaceId } = numbers.doc.parse(doc)
        const { numbers: theirs, numberIds } = await writer.stateOf(workspace, workspaceId)
        const number = theirs.get(numberIds.get(e164) ?? '')
        if (number && isDelivering(number)) return workspaceId
      }
      return null
    },
    async numberOf(workspaceId) {
      const held = await writer.stateOf(workspace, workspaceId)
      return held.numbers.valueSeq().find(isDelivering)?.e164 ?? null
    },
    async dialSettings(workspaceId, targetId) {
      const { targets } = await writer.stateOf(workspace, workspaceId)
      const endpoint = targets.get(targetId)?.endpoint
      if (!endpoint) return null
      const { sendDigits, sipTransport: transport, sipPort: port, sipAuthType, sipUsername, sipSecret } = endpoint
      const proves = sipAuthType === 'digest' && sipUsername !== null && sipSecret !== null
      const passwordOf = (sealed: string) => secrets.unseal(sealed, sipPasswordPlace(workspaceId, targetId))
      const credentials = proves ? { username: sipUsername, password: passwordOf(sipSecret.sealed) } : null
      return { sendDigits, sip: endpoint.mode === 'sip' ? { transport, port, credentials } : null }
    },
  }
}

/** Opens Telnyx with what its calls need of the platform. Its SDK is loaded only then. */
export async function openTelnyxCarrier(
  settings: TelnyxSettings,
  ports: Omit<TelnyxPorts, keyof Lookups> & CarrierPorts,
): Promise<TelnyxCarrier> {
  const { openTelnyx } = await import('../adapters/telnyx/telnyx.ts')
  return openTelnyx(settings, { ...ports, ...carrierLookups(ports) })
}

/** The open carrier, and the same by its own name. */
export interface OpenCarrier {
  readonly carrier: Carrier & { readonly close: () => Promise<void> }
  readonly simulator: Simulator | null
  readonly telnyx: TelnyxCarrier | null
}

/** Opens the carrier that the configuration names. */
export async function openCarrier(
  { telnyx: settings, roles, numberOrdering }: Config,
  ports: Omit<SimulatorPorts, 'numbers'> & CarrierPorts,
): Promise<OpenCarrier> {
  if (settings) {
    const runJobs = roles.has('worker') ? createJobRunner(ports) : null
    const telnyx = await openTelnyxCarrier(settings, { ...ports, runJobs })
    return { carrier: telnyx, simulator: null, telnyx }
  }
  const numbers = numberOrdering ? createSimulatedNumbers({ ...ports, areaCodes }) : null
  const simulator = await openSimulator({ ...ports, numbers })
  return { carrier: simulator, simulator, telnyx: null }
}
