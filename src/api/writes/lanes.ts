import { z } from 'zod'
import { closeLane } from '../../../commands/supply/close-lane.ts'
import { setLane } from '../../../commands/supply/set-lane.ts'
import { switchCompat } from '../../../commands/supply/switch-compat.ts'
import { getLane } from '../../../queries/supply/get-lane.ts'
import { campaignLaneShape } from '../../../queries/supply/lane-shape.ts'
import { compatShape } from '../../../queries/supply/routing-key-shape.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { laneId, laneInput } from '../../domain/supply/lane.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite, type Write } from './define-write.ts'
import { issueCompatToken, issueRoutingKey, KEY_NOTE } from './routing-secrets.ts'

const path = '/api/tracking/campaigns/:id/publishers/:publisherId'
const one = {
  params: z.object({ id, publisherId: id }),
  pathRecords: { id: 'campaigns', publisherId: 'publishers' } as const,
  record: ({ id, publisherId }: { readonly id: string; readonly publisherId: string }) => laneId(id, publisherId),
}

const set = defineWrite({
  ...one,
  name: 'set-lane',
  summary: 'Open a lane, or change its terms',
  method: 'PUT',
  mounts: [{ surface: 'console', path }],
  body: laneInput,
  responses: {
    200: z.object({ lane: campaignLaneShape, created: z.literal(false) }),
    201: z.object({ lane: campaignLaneShape, created: z.literal(true), key: z.string(), keyNote: z.string() }),
  },
  rejects: setLane.rejects,
  async run(writing) {
    const { params, body, act, ask } = writing
    const lane = { campaignId: params.id, publisherId: params.publisherId }
    const { secret: key, kept } = await issueRoutingKey(writing, lane, 'set-lane')
    const done = await act(setLane, { ...lane, terms: body, key: kept })
    if (isRefusal(done)) return done
    const answer = await ask(getLane, params)
    if (isRefusal(answer)) return answer
    return done.first('LaneOpened')
      ? { status: 201, body: { ...answer, created: true, key, keyNote: KEY_NOTE } }
      : { status: 200, body: { ...answer, created: false } }
  },
})

const close = defineWrite({
  ...one,
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
  rejects: closeLane.rejects,
  async run({ params: { id: campaignId, publisherId }, act }) {
    const done = await act(closeLane, { campaignId, publisherId })
    if (isRefusal(done)) return done
    const { revokedKeys = [], numbersStillAssigned = 0 } = done.first('LaneClosed') ?? {}
    const note =
      numbersStillAssigned === 0
        ? 'The lane is closed, and its routing key is revoked. Payouts already settled stand.'
        : "The lane is closed, and its routing key is revoked. The publisher's numbers on the campaign keep ringing until they are moved. Payouts already settled stand."
    const counts = { revokedKeys: revokedKeys.length, numbersStillAssigned }
    return { status: 200, body: { removed: true, campaignId, publisherId, ...counts, note } }
  },
})

const compat = defineWrite({
  params: one.params,
  record: one.record,
  notFoundParam: async ({ writer }, params, { workspaceId }) =>
    (await writer.stateOf(workspace, workspaceId)).lanes.has(one.record(params)) ? null : 'lane',
  name: 'switch-compat',
  summary: "Switch a lane's single-step ping",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/compat` }],
  body: z.object({ enabled: z.boolean() }),
  responses: { 200: z.object({ compat: compatShape, changed: z.boolean() }) },
  rejects: switchCompat.rejects,
  async run(writing) {
    const { params, body, act, ask } = writing
    const lane = { campaignId: params.id, publisherId: params.publisherId }
    const token = await issueCompatToken(writing, `switch-compat ${one.record(params)}`)
    const done = await act(switchCompat, { ...lane, ...body, token })
    if (isRefusal(done)) return done
    const answer = await ask(getLane, params)
    if (isRefusal(answer)) return answer
    return { status: 200, body: { compat: answer.lane.compat, changed: done.changed } }
  },
})

/** Writes of lanes (Document 1, "Publishers and lanes"). */
export const laneWrites: readonly Write[] = [set, close, compat]
