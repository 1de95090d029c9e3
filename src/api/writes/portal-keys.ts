import { z } from 'zod'
import { rotateRoutingKey } from '../../../commands/supply/rotate-routing-key.ts'
import { getPortalKey, portalKeyShape } from '../../../queries/supply/get-portal-key.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { ROUTING_KEY } from '../../domain/shared/limits.ts'
import type { Tenant } from '../../kernel/query.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import { issueRoutingKey, storedRoutingKey } from './routing-secrets.ts'
import type { WriteTools } from './write-tools.ts'

/** `id` where the path names no key of the publisher; null where it does. */
async function missingKeyParam({ writer }: WriteTools, params: { readonly id: string }, tenant: Tenant) {
  const { routingKeys } = await writer.stateOf(workspace, tenant.workspaceId)
  const key = routingKeys.get(params.id)
  return key !== undefined && key.publisherId === tenant.publisherId ? null : 'id'
}

/** Replaces a routing key by its publisher, with a fixed grace (Document 1, Limits; Supplement §10). */
export const rotatePortalKey = defineWrite({
  name: 'rotate-portal-key',
  summary: 'Replace one of your routing keys',
  method: 'POST',
  mounts: [{ surface: 'portal', path: '/api/portal/keys/:id/rotate' }],
  params: z.object({ id }),
  notFoundParam: missingKeyParam,
  responses: { 200: z.object({ key: portalKeyShape, routingKey: z.string() }) },
  command: rotateRoutingKey,
  async issue(context) {
    const present = await context.query(getPortalKey, context.params)
    if (isRefusal(present)) return present
    const { campaignId } = present.key
    const { publisherId = '' } = context.tenant
    return issueRoutingKey(context, { campaignId, publisherId }, `rotate-portal-key ${context.params.id}`)
  },
  input: ({ params, secret }) => ({
    keyId: params.id,
    graceMinutes: ROUTING_KEY.graceMinutes.portal,
    key: storedRoutingKey(secret),
  }),
  answer: { query: getPortalKey, params: ({ params }) => params },
  reveal: ({ secret }) => ({ routingKey: secret }),
})
