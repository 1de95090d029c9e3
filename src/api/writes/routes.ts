import { z } from 'zod'
import { removeRoute } from '../../../commands/campaigns/remove-route.ts'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { getRoute } from '../../../queries/campaigns/get-route.ts'
import { routeShape } from '../../../queries/campaigns/route-shape.ts'
import { routeKey, routeSettings } from '../../domain/campaigns/route.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite, type Write } from './define-write.ts'

const mounts = [{ surface: 'console', path: '/api/tracking/campaigns/:id/routes/:targetId' }] as const
const params = z.object({ id, targetId: id })
const pathRecords = { id: 'campaigns', targetId: 'targets' } as const
const record = ({ id, targetId }: z.infer<typeof params>) => routeKey(id, targetId)
const set = z.object({ route: routeShape, created: z.boolean() })

const put = defineWrite({
  name: 'set-route',
  summary: "Put a target on a campaign's routing plan, or change how it stands there",
  method: 'PUT',
  mounts,
  params,
  pathRecords,
  record,
  body: routeSettings.partial(),
  responses: { 200: set, 201: set },
  rejects: [...setRoute.rejects, ...getRoute.rejects],
  async run({ params: { id, targetId }, body, act, ask }) {
    const done = await act(setRoute, { campaignId: id, targetId, settings: body })
    if (isRefusal(done)) return done
    const answer = await ask(getRoute, { id, targetId })
    if (isRefusal(answer)) return answer
    const created = done.first('RouteSet')?.before === null
    return { status: created ? 201 : 200, body: { route: answer.route, created } }
  },
})

const remove = defineWrite({
  name: 'remove-route',
  summary: "Take a target off a campaign's routing plan",
  method: 'DELETE',
  mounts,
  params,
  pathRecords,
  record,
  responses: { 200: z.object({ removed: z.literal(true) }) },
  rejects: removeRoute.rejects,
  async run({ params: { id, targetId }, act }) {
    const done = await act(removeRoute, { campaignId: id, targetId })
    return isRefusal(done) ? done : { status: 200, body: { removed: true } }
  },
})

/** Writes of routing plans (Supplement §5). */
export const routeWrites: readonly Write[] = [put, remove]
