import type { KeyObject } from 'node:crypto'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import type { Carrier, NoticeListener } from '../../ports/carrier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CommandHandler } from '../../ports/command-handler.ts'
import type { RunJobs } from '../../ports/job-runner.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { openClient, type TelnyxAccount } from './client.ts'
import type { DialSettings } from './dial-settings.ts'
import { withSealedHeaders } from './headers.ts'
import { createTelnyxNumbers } from './numbers.ts'
import { createPerformer } from './perform-step.ts'
import { createProbe } from './probe.ts'
import { createTelnyxRecordings } from './recordings.ts'
import { receiveWebhook, requestDial, requestRelease } from './session-commands.ts'
import { createDriver } from './session-driver.ts'
import { createSessionQueue } from './session-queue.ts'
import { openSessions } from './session-store.ts'
import { createVoice } from './voice.ts'
import { isAuthentic, parseWebhook, type RawRequest } from './webhook.ts'

export interface TelnyxPorts {
  readonly writer: CommandHandler
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>
  readonly listener: NoticeListener
  /** The workspace that takes calls on a number; null when none does. */
  readonly workspaceOf: (e164: string) => Promise<string | null>
  /** A number of the workspace that may serve as caller id; null when it has none. */
  readonly numberOf: (workspaceId: string) => Promise<string | null>
  /** The current dial settings of a target, its secrets unsealed; null when it has none of its own. */
  readonly dialSettings: (workspaceId: string, targetId: string) => Promise<DialSettings | null>
  /** Runs sessions that are due, also those that other processes left behind; null in a process without workers. */
  readonly runJobs: RunJobs | null
}

/** The account, the public key of its webhooks' signatures, and whether numbers are rented there. */
export interface TelnyxSettings extends TelnyxAccount {
  readonly publicKey: KeyObject
  readonly rents: boolean
}

/** Telnyx: the carrier port, and its webhooks. */
export interface TelnyxCarrier extends Carrier {
  /**
   * Takes a webhook and resolves when it is durable: true when it concerns calls, false for any other kind. Its effects
   * follow later.
   * @throws LogUnavailable, StoreUnavailable when Telnyx is to send it again
   */
  readonly receiveWebhook: (request: RawRequest) => Promise<boolean | Refusal<'invalid-signature' | 'validation-error'>>
}

/** Opens Telnyx as the carrier. */
export function openTelnyx(settings: TelnyxSettings, ports: TelnyxPorts): TelnyxCarrier {
  const { clock, writer, secrets } = ports
  const client = openClient(settings)
  const voice = createVoice(client, settings)
  const sessions = openSessions(writer)
  const perform = createPerformer({ ...ports, voice, sessions })
  const driver = createDriver({ ...ports, sessions, queue: createSessionQueue(ports), perform })

  return {
    name: 'Telnyx',
    async dial({ carrierCallId: sessionId, ...dial }) {
      await sessions.execute(requestDial, { sessionId, dial })
      await driver.resume(sessionId)
    },
    async release({ carrierCallId: sessionId, ...release }) {
      await sessions.execute(requestRelease, { sessionId, release })
      await driver.resume(sessionId)
    },
    probe: createProbe({ ...ports, voice, sessions }),
    numbers: settings.rents ? createTelnyxNumbers(settings) : null,
    recordings: createTelnyxRecordings(client),
    async receiveWebhook(request) {
      if (!isAuthentic(request, settings.publicKey, clock.now())) return refuse('invalid-signature')
      const webhook = parseWebhook(request.bytes)
      if (webhook === null) return false
      if (isRefusal(webhook)) return webhook
      const { session: sessionId, received } = webhook
      const stored = withSealedHeaders(received, sessionId, secrets)
      await sessions.execute(receiveWebhook, { sessionId, webhook: stored })
      await driver.resume(sessionId)
      return true
    },
    close: () => driver.close(),
  }
}
