import type { WorkspaceState } from '../configuration/workspace.ts'
import type { Attribution, TrackingNumber } from '../supply/number.ts'
import type { RoutingKey } from '../supply/routing-key.ts'
import type { Arrival } from './decision.ts'
import type { WonOffer } from './won-offer.ts'

/** SIP header that carries a routing key. Header names are case-insensitive (RFC 3261 §7.3.1). */
const ROUTING_KEY_HEADER = 'x-svc-routing-key'

/** The campaign and publisher that a call is attributed to, and by what. */
export interface Sender extends Pick<Attribution, 'campaignId' | 'publisherId'> {
  readonly attribution: Arrival['attribution']
}

/** The routing key in a call's SIP headers; null where there is none. */
export function routingKeyIn(sipHeaders: Readonly<Record<string, string>>): string | null {
  const header = Object.entries(sipHeaders).find(([name]) => name.toLowerCase() === ROUTING_KEY_HEADER)
  return header?.[1].trim() || null
}

/** The routing key that works at an instant and has this hash; undefined where there is none. */
export function routingKeyOf(
  { routingKeys }: Pick<WorkspaceState, 'routingKeys'>,
  keyHash: string,
  at: string,
): RoutingKey | undefined {
  return routingKeys.find(({ secrets }) =>
    secrets.some(({ hash, expiresAt }) => hash === keyHash && (expiresAt === null || at < expiresAt)),
  )
}

/**
 * Attributes a call to a campaign and publisher (Supplement §6, Arrival): by the offer that it claims, its routing key where that is valid at the
 * arrival, else by the number that was called. An unknown or expired key is ignored.
 */
export function senderOf(
  workspace: Pick<WorkspaceState, 'routingKeys'>,
  number: TrackingNumber,
  keyHash: string | null,
  at: string,
  offer: WonOffer | null = null,
): Sender {
  if (offer) {
    const { attribution, campaign, publisher } = offer
    return { attribution, campaignId: campaign.id, publisherId: publisher.id }
  }
  const key = keyHash === null ? undefined : routingKeyOf(workspace, keyHash, at)
  if (key) return { attribution: 'routing_key', campaignId: key.campaignId, publisherId: key.publisherId }
  const { campaignId, publisherId } = number
  return { attribution: campaignId === null ? 'direct' : 'tracking_number', campaignId, publisherId }
}
