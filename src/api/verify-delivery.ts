import { timingSafeEqual } from 'node:crypto'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { signatureOf } from '../domain/delivery/delivery-request.ts'
import { isSigned } from '../domain/delivery/webhook.ts'
import type { Secrets } from '../ports/secrets.ts'
import { signingSecretOf } from '../reactions/webhook-secrets.ts'
import type { VerifyDelivery } from './sandbox-receivers.ts'

const pathOf = (url: string) => URL.parse(url)?.pathname ?? null

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Verifies signatures for the inspector of the sandbox: with the secrets of the endpoints whose URL is the receiver's. Null where
 * there is no such endpoint. The path decides, for processes may know the platform under different addresses.
 */
export function createDeliveryVerifier({
  secrets,
  configuration,
}: {
  readonly secrets: Pick<Secrets, 'derive'>
  readonly configuration: (workspaceId: string) => Promise<WorkspaceState>
}): VerifyDelivery {
  return async (receiverUrl, workspaceId, header, rawBody) => {
    const { webhooks } = await configuration(workspaceId)
    const path = pathOf(receiverUrl)
    const senders = [...webhooks.values()].filter((webhook) => isSigned(webhook) && pathOf(webhook.url) === path)
    if (senders.length === 0) return null
    const seconds = /(?:^|,)\s*t=(\d+)/.exec(header)?.[1]
    return senders.some(({ id, secret }) =>
      isSame(signatureOf(signingSecretOf(secrets, id, secret.version), Number(seconds), rawBody), header),
    )
  }
}
