import { z } from 'zod'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import { unblockCaller } from '../../../commands/routing/unblock-caller.ts'
import { blockedCallerOf, blockedCallerShape } from '../../../queries/routing/blocked-caller-shape.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { type Block, blockKey, blocklist, callerLast10 } from '../../domain/routing/blocklist.ts'
import { refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

const paths = { rest: '/api/v1/blocked-callers', console: '/api/tracking/blocked-callers' } as const
const scope = 'blocklist:write'

/** A block as it is shown: with the present name of its campaign. */
async function blockedCallerBody({ writer }: WriteTools, workspaceId: string, block: Block) {
  const { campaigns } = await writer.stateOf(workspace, workspaceId)
  return blockedCallerOf(block, block.campaignId === null ? undefined : campaigns.get(block.campaignId))
}

const block = defineWrite({
  name: 'block-caller',
  summary: 'Block a caller',
  method: 'POST',
  mounts: [
    { surface: 'rest', path: paths.rest, scope },
    { surface: 'console', path: paths.console },
  ],
  body: blockCaller.input,
  responses: {
    201: z.object({ blockedCaller: blockedCallerShape, created: z.literal(true) }),
    200: z.object({ blockedCaller: blockedCallerShape, created: z.literal(false) }),
  },
  rejects: ['conflict'],
  command: blockCaller,
  input: ({ body }) => body,
  status: ({ outcome }) => (outcome.first('CallerBlocked') ? 201 : 200),
  async respond({ body, outcome, context: { tools, tenant } }) {
    const { workspaceId } = tenant
    const added = outcome.first('CallerBlocked')
    if (added) return { blockedCaller: await blockedCallerBody(tools, workspaceId, added.block), created: true }
    const { blocks } = await tools.writer.stateOf(blocklist, workspaceId)
    const present = blocks.get(blockKey(body.campaignId ?? null, callerLast10(body.callerNumber) ?? ''))
    if (!present) return refuse('conflict', null, 'The block was changed meanwhile; send the request again.')
    return { blockedCaller: await blockedCallerBody(tools, workspaceId, present), created: false }
  },
})

const unblock = defineWrite({
  name: 'unblock-caller',
  summary: 'Unblock a caller',
  method: 'DELETE',
  mounts: [
    { surface: 'rest', path: `${paths.rest}/:id`, scope },
    { surface: 'console', path: `${paths.console}/:id` },
  ],
  params: z.object({ id }),
  responses: { 200: z.object({ deleted: id }) },
  notFoundParam: async ({ writer }, { id }, { workspaceId }) =>
    (await writer.stateOf(blocklist, workspaceId)).keys.has(id) ? null : 'id',
  command: unblockCaller,
  input: ({ params }) => ({ blockId: params.id }),
  respond: ({ params }) => ({ deleted: params.id }),
})

/** Writes of the blocklist (Document 1, "Numbers and blocked callers"). */
export const blockedCallerWrites: readonly Write[] = [block, unblock]
