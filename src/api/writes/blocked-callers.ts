import { z } from 'zod'
import { blockCaller } from '../../../commands/routing/block-caller.ts'
import { unblockCaller } from '../../../commands/routing/unblock-caller.ts'
import { blockedCallerOf, blockedCallerShape } from '../../../queries/routing/blocked-caller-shape.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { type Block, blockKey, blocklist, callerLast10 } from '../../domain/routing/blocklist.ts'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite, type Write } from './define-write.ts'
import type { WriteTools } from './write-context.ts'

const paths = { rest: '/api/v1/blocked-callers', console: '/api/tracking/blocked-callers' } as const
const scope = 'blocklist:write'

/** A block with the name that its campaign has now. */
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
  rejects: [...blockCaller.rejects, 'conflict'],
  async run({ body, tenant: { workspaceId }, tools, act }) {
    const done = await act(blockCaller, body)
    if (isRefusal(done)) return done
    const made = done.first('CallerBlocked')
    if (made)
      return {
        status: 201,
        body: { blockedCaller: await blockedCallerBody(tools, workspaceId, made.block), created: true },
      }
    const { blocks } = await tools.writer.stateOf(blocklist, workspaceId)
    const held = blocks.get(blockKey(body.campaignId ?? null, callerLast10(body.callerNumber) ?? ''))
    if (!held) return refuse('conflict', null, 'The block was changed meanwhile; send the request again.')
    return { status: 200, body: { blockedCaller: await blockedCallerBody(tools, workspaceId, held), created: false } }
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
  rejects: unblockCaller.rejects,
  notFoundParam: async ({ writer }, { id }, { workspaceId }) =>
    (await writer.stateOf(blocklist, workspaceId)).keys.has(id) ? null : 'id',
  async run({ params: { id }, act }) {
    const done = await act(unblockCaller, { blockId: id })
    return isRefusal(done) ? done : { status: 200, body: { deleted: id } }
  },
})

/** Writes of the blocklist (Document 1, "Numbers and blocked callers"). */
export const blockedCallerWrites: readonly Write[] = [block, unblock]
