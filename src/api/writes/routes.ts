import { z } from 'zod'
import { removeRoute } from '../../../commands/campaigns/remove-route.ts'
import { setRoute } from '../../../commands/campaigns/set-route.ts'
import { getRoute } from '../../../queries/campaigns/get-route.ts'
import { routeShape } from '../../../queries/campaigns/route-shape.ts'
import { type routeEvents, routeKey, routeSettings } from '../../domain/campaigns/route.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import type { CommandOutcome } from './write-context.ts'
import type { Write } from './write-route.ts'

const mounts = [{ surface: 'console', path: '/api/tracking/campaigns/:id/routes/:targetId' }] as const
const params = z.object({ id, targetId: id })
const pathRecords = { id: 'campaigns', targetId: 'targets' } as const
const record = ({ id, targetId }: z.infer<typeof params>) => routeKey(id, targetId)
const routeResponse = z.object({ route: routeShape, created: z.boolean() })

/** Whether the outcome of `set-route` put the target on the plan, where it had not been before. */
const isCreated = ({ first }: CommandOutcome<typeof routeEvents>) => first('RouteSet')?.before === null

const put = defineWrite({
  name: 'set-route',
  summary: "Put a target on a campaign's routing plan, or change its settings there",
  method: 'PUT',
  mounts,
  params,
  pathRecords,
  record,
  body: routeSettings.partial(),
  responses: { 200: routeResponse, 201: routeResponse },
  rejects: getRoute.rejects,
  command: setRoute,
  input: ({ params: { id, targetId }, body }) => ({ campaignId: id, targetId, settings: body }),
  answer: { query: getRoute, params: ({ params }) => params },
  status: ({ outcome }) => (isCreated(outcome) ? 201 : 200),
  respond: ({ answer, outcome }) => ({ route: answer.route, created: isCreated(outcome) }),
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
  command: removeRoute,
  input: ({ params: { id, targetId } }) => ({ campaignId: id, targetId }),
  respond: () => ({ removed: true }),
})

/** Writes of routing plans (Supplement §5). */
export const routeWrites: readonly Write[] = [put, remove]
