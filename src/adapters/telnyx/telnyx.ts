import type { KeyObject } from 'node:crypto'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import type { Carrier, NoticeListener } from '../../ports/carrier.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { openClient, type TelnyxAccount } from './client.ts'
import { createDriver } from './driver.ts'
import { withSealedHeaders } from './headers.ts'
import { createTelnyxNumbers } from './numbers.ts'
import { createProbe } from './probe.ts'
import { createTelnyxRecordings } from './recordings.ts'
import { createSessions, type SessionPorts } from './sessions.ts'
import { createVoice, type DialSettings } from './voice.ts'
import { isAuthentic, parseWebhook, type RawRequest } from './webhook.ts'

export interface TelnyxPorts extends SessionPorts {
  readonly ops: OperationalStore
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>
  readonly listener: NoticeListener
  /** The workspace whose number this is, if it takes calls on it; null when none does. */
  readonly workspaceOf: (e164: string) => Promise<string | null>
  /** A number of the workspace's that a call may be said to come from; null when it has none. */
  readonly numberOf: (workspaceId: string) => Promise<string | null>
  /** How a target is dialled now, its secrets opened; null for one that has no settings of its own. */
  readonly dialSettings: (workspaceId: string, targetId: string) => Promise<DialSettings | null>
  /** Whether this process takes up what others have left behind. */
  readonly recovers: boolean
}

/** The account, what its webhooks are signed under, and whether numbers are rented there. */
export interface TelnyxSettings extends TelnyxAccount {
  readonly publicKey: KeyObject
  readonly rents: boolean
}

/** Telnyx: the carrier port, and the webhooks by which it tells. */
export interface TelnyxCarrier extends Carrier {
  /**
   * Takes a webhook: resolves once it can no longer be lost, to whether it was one of ours. What it leads to follows.
   * @throws LogUnavailable, StoreUnavailable when it is to be sent again
   */
  readonly receiveWebhook: (request: RawRequest) => Promise<boolean | Refusal<'invalid-signature' | 'validation-error'>>
}

/** Opens Telnyx as the carrier. */
export function openTelnyx(settings: TelnyxSettings, ports: TelnyxPorts): TelnyxCarrier {
  const { clock } = ports
  const client = openClient(settings)
  const voice = createVoice(client, settings)
  const sessions = createSessions(ports)
  const driver = createDriver({ ...ports, voice, sessions })

  return {
    name: 'Telnyx',
    async dial({ carrierCallId, ...dial }) {
      await sessions.add(carrierCallId, ({ dials }) =>
        dials.some(({ commandId }) => commandId === dial.commandId) ? null : { type: 'TelnyxDialAsked', data: dial },
      )
      await driver.moved(carrierCallId)
    },
    async release({ carrierCallId, ...release }) {
      await sessions.add(carrierCallId, ({ releases }) =>
        releases.some(({ commandId }) => commandId === release.commandId)
          ? null
          : { type: 'TelnyxReleaseAsked', data: release },
      )
      await driver.moved(carrierCallId)
    },
    probe: createProbe({ ...ports, voice, sessions }),
    numbers: settings.rents ? createTelnyxNumbers(settings) : null,
    recordings: createTelnyxRecordings(client),
    async receiveWebhook(request) {
      if (!isAuthentic(request, settings.publicKey, clock.now())) return refuse('invalid-signature')
      const heard = parseWebhook(request.bytes)
      if (heard === null) return false
      if (isRefusal(heard)) return heard
      const { session } = heard
      const told = withSealedHeaders(heard.received, ports.secrets)
      await sessions.add(session, ({ webhooks }) =>
        webhooks.includes(told.webhookId) ? null : { type: 'TelnyxWebhookTaken', data: told },
      )
      await driver.moved(session)
      return true
    },
    close: () => driver.close(),
  }
}
