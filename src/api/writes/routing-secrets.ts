import { workspace } from '../../domain/configuration/workspace.ts'
import { ROUTING_KEY } from '../../domain/shared/limits.ts'
import { keyStem } from '../../domain/supply/routing-key.ts'
import { compatTokenPlace } from '../../ports/sealed-places.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { secretHash } from '../secret-hash.ts'
import { issueSecret, SECRET_CHARACTERS, storedSecret } from '../secret-issuer.ts'
import type { WriteContext } from './write-context.ts'

/** The note beside a new routing key. */
export const KEY_NOTE = 'Keep this key now: it is not shown again. Only its first characters can be read later.'

/** The lane of a routing key. */
interface LaneKey {
  readonly workspaceId: string
  readonly campaignId: string
  readonly publisherId: string
}

/** Issues a routing key of a lane. It begins with the prefixes of the lane's campaign and publisher. */
export async function issueRoutingKey(
  context: WriteContext,
  { campaignId, publisherId }: Omit<LaneKey, 'workspaceId'>,
  purpose: string,
): Promise<string> {
  const state = await context.tools.writer.stateOf(workspace, context.tenant.workspaceId)
  const campaign = state.campaigns.get(campaignId)?.routingKeyPrefix ?? ''
  const publisher = state.publishers.get(publisherId)?.routingPrefix ?? ''
  return issueSecret(context, `${purpose} ${campaignId} ${publisherId}`, keyStem(campaign, publisher))
}

/** The stored form of a routing key: its stem with a few characters more, and its hash. */
export function storedRoutingKey(key: string) {
  return storedSecret(key, key.length - SECRET_CHARACTERS + ROUTING_KEY.shown)
}

/** Issues a token of a single-step ping URL. */
export function issueCompatToken(context: WriteContext, purpose: string): Promise<string> {
  return issueSecret(context, purpose, 'ct_')
}

/** The stored form of a lane's token: its hash, and the sealed token, because the URL can be read again. */
export function storedCompatToken(
  secrets: Pick<Secrets, 'seal'>,
  token: string,
  { workspaceId, campaignId, publisherId }: LaneKey,
) {
  return {
    hash: secretHash(token),
    sealed: secrets.seal(token, compatTokenPlace(workspaceId, campaignId, publisherId)),
  }
}
