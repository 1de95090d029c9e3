import type { WorkspaceState } from '../configuration/workspace.ts'
import type { Attribution, TrackingNumber } from '../supply/number.ts'
import type { Arrival } from './decision.ts'

/** The header by which a SIP call says whose routing key sent it; header names are in no case (RFC 3261 §7.3.1). */
const ROUTING_KEY_HEADER = 'x-svc-routing-key'

/** On whose account a call is, and how that is known. */
export interface Sender extends Pick<Attribution, 'campaignId' | 'publisherId'> {
  readonly attribution: Arrival['attribution']
}

/** The routing key that a call carries; null where it carries none. */
export function routingKeyIn(sipHeaders: Readonly<Record<string, string>>): string | null {
  const header = Object.entries(sipHeaders).find(([name]) => name.toLowerCase() === ROUTING_KEY_HEADER)
  return header?.[1].trim() || null
}

/**
 * On whose account a call is (Supplement §6, Arrival): a key that works at its arrival says so before the number does.
 * A key that is unknown or works no more says nothing.
 */
export function senderOf(
  { routingKeys }: Pick<WorkspaceState, 'routingKeys'>,
  number: TrackingNumber,
  keyHash: string | null,
  at: string,
): Sender {
  const key =
    keyHash === null
      ? undefined
      : routingKeys.find(({ secrets }) =>
          secrets.some(({ hash, expiresAt }) => hash === keyHash && (expiresAt === null || at < expiresAt)),
        )
  if (key) return { attribution: 'routing_key', campaignId: key.campaignId, publisherId: key.publisherId }
  const { campaignId, publisherId } = number
  return { attribution: campaignId === null ? 'direct' : 'tracking_number', campaignId, publisherId }
}
