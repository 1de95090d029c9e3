import type { Place } from './secrets.ts'

/** Defines the places of one purpose. */
function placesOf<Path extends readonly string[]>(purpose: string) {
  return (...path: Path): Place => ({ purpose, path })
}

/** A bidder's header. */
export const bidHeaderPlace = placesOf<[workspaceId: string, targetId: string, header: string]>('bid-header')

/** The SIP password of a target. */
export const sipPasswordPlace = placesOf<[workspaceId: string, targetId: string]>('sip-password')

/** The token of a lane's single-step ping. */
export const compatTokenPlace = placesOf<[workspaceId: string, campaignId: string, publisherId: string]>('compat-token')

/** The signing secret of a routing key. */
export const signingSecretPlace = placesOf<[workspaceId: string, keyId: string]>('signing-secret')

/** A SIP header of a call at the carrier. */
export const sipHeaderPlace = placesOf<[carrierCallId: string, header: string]>('sip-header')

/** What an idempotency entry of the operational store holds. */
export const idempotencyPlace = placesOf<[entry: string, field: 'request' | 'outcome']>('idempotency')

/** A secret that a repeated request gets again; its entry is in the operational store. */
export const issuedSecretPlace = placesOf<[entry: string]>('issued-secret')

/** A header of a webhook or pixel endpoint. */
export const webhookHeaderPlace = placesOf<[workspaceId: string, webhookId: string, header: string]>('webhook-header')

/** Headers and bodies of one attempt of a delivery; its entry is in the operational store. */
export const exchangePlace = placesOf<[entry: string]>('delivery-exchange')
