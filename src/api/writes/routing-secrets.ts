import { workspace } from '../../domain/configuration/workspace.ts'
import { ROUTING_KEY } from '../../domain/shared/limits.ts'
import { keyStem } from '../../domain/supply/routing-key.ts'
import { secretHash } from '../access.ts'
import { issueSecret, storedSecret } from '../secret-issuer.ts'
import type { WriteContext } from './write-context.ts'

type SecretContext = WriteContext<unknown, unknown>

/** What whoever is given a routing key must be told. */
export const KEY_NOTE = 'Keep this key now: it is not shown again. Only its first characters can be read later.'

/** A new routing key of a lane, which names the campaign and the publisher by their prefixes, and what is kept of it. */
export async function issueRoutingKey(
  writing: SecretContext,
  { campaignId, publisherId }: { readonly campaignId: string; readonly publisherId: string },
  act: string,
) {
  const state = await writing.tools.writer.stateOf(workspace, writing.tenant.workspaceId)
  const campaign = state.campaigns.get(campaignId)?.routingKeyPrefix ?? ''
  const publisher = state.publishers.get(publisherId)?.routingPrefix ?? ''
  const stem = keyStem(campaign, publisher)
  const secret = await issueSecret(writing, `${act} ${campaignId} ${publisherId}`, stem)
  return { secret, kept: storedSecret(secret, stem.length + ROUTING_KEY.shown) }
}

/** A new token of a single-step ping URL, as it is kept. */
export async function issueCompatToken(writing: SecretContext, purpose: string) {
  const token = await issueSecret(writing, purpose, 'ct_')
  return { hash: secretHash(token), sealed: writing.tools.secrets.seal(token) }
}
