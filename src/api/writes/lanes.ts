import { z } from 'zod'
import { closeLane } from '../../../commands/supply/close-lane.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { switchCompat } from '../../../commands/supply/switch-compat.ts'
import { getLane } from '../../../queries/supply/get-lane.ts'
import { campaignLaneShape } from '../../../queries/supply/lane-shape.ts'
import { compatShape } from '../../../queries/supply/routing-key-shape.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { laneId, laneInput } from '../../domain/supply/lane.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import { issueCompatToken, issueRoutingKey, KEY_NOTE, storedCompatToken, storedRoutingKey } from './routing-secrets.ts'
import type { Write } from './write-route.ts'

const path = '/api/tracking/campaigns/:id/publishers/:publisherId'
/** The lane that the path names. */
const laneOf = ({ id, publisherId }: { readonly id: string; readonly publisherId: string }) => ({
  campaignId: id,
  publisherId,
})

const byIds = {
  params: z.object({ id, publisherId: id }),
  pathRecords: { id: 'campaigns', publisherId: 'publishers' } as const,
  record: ({ id, publisherId }: { readonly id: string; readonly publisherId: string }) => laneId(id, publisherId),
}

const set = defineWrite({
  ...byIds,
  name: 'set-lane',
  summary: 'Open a lane, or change its terms',
  method: 'PUT',
  mounts: [{ surface: 'console', path }],
  body: laneInput,
  responses: {
    200: z.object({ lane: campaignLaneShape, created: z.literal(false) }),
    201: z.object({ lane: campaignLaneShape, created: z.literal(true), key: z.string(), keyNote: z.string() }),
  },
  command: setLane,
  issue: (context) => issueRoutingKey(context, laneOf(context.params), 'set-lane'),
  input: ({ params, body, secret }) => ({ ...laneOf(params), terms: body, key: storedRoutingKey(secret) }),
  answer: { query: getLane, params: ({ params }) => params },
  status: ({ outcome }) => (outcome.first('LaneOpened') ? 201 : 200),
  reveal: ({ outcome, secret }) => (outcome.first('LaneOpened') ? { key: secret, keyNote: KEY_NOTE } : {}),
  respond: ({ answer, outcome }) => ({ ...answer, created: outcome.first('LaneOpened') !== undefined }),
})

const close = defineWrite({
  ...byIds,
  name: 'close-lane',
  summary: 'Close a lane and revoke its key',
  method: 'DELETE',
  mounts: [{ surface: 'console', path }],
  responses: {
    200: z.object({
      removed: z.literal(true),
      campaignId: id,
      publisherId: id,
      revokedKeys: z.int(),
      numbersStillAssigned: z.int(),
      note: z.string(),
    }),
  },
  command: closeLane,
  input: ({ params }) => laneOf(params),
  respond({ params, outcome }) {
    const { revokedKeys = [], numbersStillAssigned = 0 } = outcome.first('LaneClosed') ?? {}
    const note =
      numbersStillAssigned === 0
        ? 'The lane is closed, and its routing key is revoked. Payouts already settled stand.'
        : "The lane is closed, and its routing key is revoked. The publisher's numbers on the campaign keep ringing until they are moved. Payouts already settled stand."
    return { removed: true, ...laneOf(params), revokedKeys: revokedKeys.length, numbersStillAssigned, note }
  },
})

const compat = defineWrite({
  params: byIds.params,
  record: byIds.record,
  notFoundParam: async ({ writer }, params, { workspaceId }) =>
    (await writer.stateOf(workspace, workspaceId)).lanes.has(byIds.record(params)) ? null : 'lane',
  name: 'switch-compat',
  summary: "Switch a lane's single-step ping",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/compat` }],
  body: z.object({ enabled: z.boolean() }),
  responses: { 200: z.object({ compat: compatShape, changed: z.boolean() }) },
  command: switchCompat,
  issue: (context) => issueCompatToken(context, `switch-compat ${byIds.record(context.params)}`),
  input: ({ params, body, secret, context }) => ({
    ...laneOf(params),
    ...body,
    token: storedCompatToken(context.tools.secrets, secret, {
      workspaceId: context.tenant.workspaceId,
      ...laneOf(params),
    }),
  }),
  answer: { query: getLane, params: ({ params }) => params },
  respond: ({ answer: { lane }, outcome }) => ({ compat: lane.compat, changed: outcome.changed }),
})

/** Writes of lanes (Document 1, "Publishers and lanes"). */
export const laneWrites: readonly Write[] = [set, close, compat]
