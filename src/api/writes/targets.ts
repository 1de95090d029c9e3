import { z } from 'zod'
import { changeTarget } from '../../../commands/demand/change-target.ts'
import { createTarget } from '../../../commands/demand/create-target.ts'
import { setTargetStatus } from '../../../commands/demand/set-target-status.ts'
import { resetTargetCaps } from '../../../commands/routing/reset-target-caps.ts'
import { getTarget, targetResponse } from '../../../queries/demand/get-target.ts'
import { endpointShape } from '../../../queries/demand/target-shape.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { endpoint, endpointSettings, rtb } from '../../domain/demand/endpoint.ts'
import { newTargetInput, type Target, type TargetInput, targetInput, targetStatus } from '../../domain/demand/target.ts'
import { price } from '../../domain/money/money.ts'
import { capFigures } from '../../domain/routing/ledger-events.ts'
import { statusNote } from '../../domain/shared/fields.ts'
import { TARGET } from '../../domain/shared/limits.ts'
import { bidHeaderPlace, sipPasswordPlace } from '../../ports/sealed-places.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { defineWrite } from './define-write.ts'
import { testTarget } from './target-test.ts'
import { recordRoute, type Write } from './write-route.ts'

const paths = { console: '/api/tracking/targets', rest: '/api/v1/targets' } as const
const scope = 'targets:write'
const byId = recordRoute('targets')

/** Dialling settings as they are sent: the SIP password is in plain text, and is sealed before anything else. */
const endpointInput = endpointSettings
  .omit({ sipSecret: true })
  .extend({ sipPassword: z.string().min(1).max(TARGET.sipField).nullable() })
  .partial()
  .meta({ id: 'EndpointSettings' })
type EndpointInput = Readonly<z.infer<typeof endpointInput>>

/** Bidding settings as they are sent: header values are in plain text, and are sealed before anything else. */
const rtbInput = rtb.partial()
type RtbInput = Readonly<z.infer<typeof rtbInput>>

/** The last four characters would reveal most of a password shorter than this. */
const MIN_LENGTH_FOR_LAST4 = 5

/** The target that sealed settings belong to, and what seals them. */
interface SealContext {
  readonly secrets: Secrets
  readonly workspaceId: string
  readonly targetId: string
}

/** The bidding settings of a request with their header values sealed; an unchanged value keeps its present seal. */
function sealRtb(
  { secrets, workspaceId, targetId }: SealContext,
  sent: RtbInput | undefined,
  target: Target | undefined,
): Pick<TargetInput, 'rtb'> {
  if (sent?.bidHeaders === undefined) return sent === undefined ? {} : { rtb: sent }
  const before = new Map(Object.entries(target?.rtb?.bidHeaders ?? {}))
  const bidHeaders = Object.entries(sent.bidHeaders).map(([name, value]) => {
    const old = before.get(name)
    const place = bidHeaderPlace(workspaceId, targetId, name)
    return [name, old !== undefined && secrets.unseal(old, place) === value ? old : secrets.seal(value, place)]
  })
  return { rtb: { ...sent, bidHeaders: Object.fromEntries(bidHeaders) } }
}

/** The dialling settings of a request with their password sealed. */
function sealEndpoint(
  { secrets, workspaceId, targetId }: SealContext,
  sent: EndpointInput | undefined,
): Pick<TargetInput, 'endpoint'> {
  if (sent === undefined) return {}
  const { sipPassword, ...plain } = sent
  if (sipPassword === undefined) return { endpoint: plain }
  const last4 = sipPassword === null || sipPassword.length < MIN_LENGTH_FOR_LAST4 ? null : sipPassword.slice(-4)
  const place = sipPasswordPlace(workspaceId, targetId)
  const sipSecret = sipPassword === null ? null : { sealed: secrets.seal(sipPassword, place), last4 }
  return { endpoint: { ...plain, sipSecret } }
}

const create = defineWrite({
  name: 'create-target',
  summary: 'Add a target',
  method: 'POST',
  mounts: [{ surface: 'console', path: paths.console }],
  body: newTargetInput.extend({ endpoint: endpointInput.optional(), rtb: rtbInput.optional() }),
  responses: { 201: targetResponse },
  command: createTarget,
  input({ body: { endpoint, rtb, ...settings }, context: { tools, tenant } }) {
    const targetId = tools.random.uuid()
    const sealing = { secrets: tools.secrets, workspaceId: tenant.workspaceId, targetId }
    return { ...settings, targetId, ...sealEndpoint(sealing, endpoint), ...sealRtb(sealing, rtb, undefined) }
  },
  answer: { query: getTarget, params: ({ outcome }) => ({ id: outcome.first('TargetCreated')?.target.id ?? '' }) },
})

const change = defineWrite({
  ...byId,
  name: 'change-target',
  summary: 'Change a target',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${paths.console}/:id` }],
  body: targetInput.extend({ endpoint: endpointInput.optional(), rtb: rtbInput.optional() }),
  responses: { 200: targetResponse },
  command: changeTarget,
  async input({ params: { id }, body: { endpoint, rtb, ...changes }, context: { tools, tenant } }) {
    const { targets } = await tools.writer.stateOf(workspace, tenant.workspaceId)
    const sealing = { secrets: tools.secrets, workspaceId: tenant.workspaceId, targetId: id }
    const sealed = { ...sealEndpoint(sealing, endpoint), ...sealRtb(sealing, rtb, targets.get(id)) }
    return { targetId: id, changes: { ...changes, ...sealed } }
  },
  answer: { query: getTarget, params: ({ params }) => params },
})

/** The nine fields that a key may change (Document 1, "update"). */
const keyWritable = targetInput
  .pick({
    concurrencyCap: true,
    hourlyCap: true,
    dailyCap: true,
    monthlyCap: true,
    totalCap: true,
    dailyRevenueCapCents: true,
    hoursSchedule: true,
    states: true,
  })
  .extend({ revenueCents: price.optional() })

/** Every other field of a target: in responses, in console requests or in the words of Document 1. */
const consoleOnly = [targetResponse.shape.target, targetInput, endpoint, endpointShape, endpointInput, rtb]
  .flatMap(({ shape }) => Object.keys(shape))
  .concat('credentials')
  .filter((field) => !Object.hasOwn(keyWritable.shape, field))

const changeByKey = defineWrite({
  ...byId,
  name: 'change-target-caps',
  summary: "Change a target's price, caps, hours or states",
  method: 'PATCH',
  mounts: [{ surface: 'rest', path: `${paths.rest}/:id`, scope }],
  body: keyWritable,
  readOnlyFields: [...new Set(consoleOnly)],
  responses: { 200: targetResponse },
  command: changeTarget,
  input: ({ params, body }) => ({ targetId: params.id, changes: body }),
  answer: { query: getTarget, params: ({ params }) => params },
})

/** The two status routes: which statuses they accept, and on whose behalf. */
const STATUS_ROUTES = [
  {
    by: 'console',
    name: 'set-target-status',
    summary: "Change a target's status",
    mount: { surface: 'console', path: `${paths.console}/:id/status` },
    status: targetStatus,
  },
  {
    by: 'key',
    name: 'pause-target',
    summary: 'Pause or resume a target',
    mount: { surface: 'rest', path: `${paths.rest}/:id/status`, scope },
    status: targetStatus.extract(['active', 'paused']),
  },
] as const

const setStatus = STATUS_ROUTES.map(({ by, name, summary, mount, status }) =>
  defineWrite({
    ...byId,
    name,
    summary,
    method: 'POST',
    mounts: [mount],
    body: z.object({ status, note: statusNote.nullish() }),
    responses: { 200: targetResponse.extend({ changed: z.boolean(), removedRoutes: z.int() }) },
    command: setTargetStatus,
    input: ({ params, body }) => ({ targetId: params.id, ...body, by }),
    answer: { query: getTarget, params: ({ params }) => params },
    respond({ answer, outcome }) {
      const removedRoutes = outcome.first('TargetStatusChanged')?.removedFrom.length ?? 0
      return { ...answer, changed: outcome.changed, removedRoutes }
    },
  }),
)

const resetCaps = defineWrite({
  params: byId.params,
  pathRecords: byId.pathRecords,
  name: 'reset-target-caps',
  summary: "Reset a target's cap counters to zero",
  method: 'POST',
  mounts: [
    { surface: 'rest', path: `${paths.rest}/:id/reset-caps`, scope },
    { surface: 'console', path: `${paths.console}/:id/reset-caps` },
  ],
  responses: { 200: targetResponse.extend({ reset: capFigures }) },
  command: resetTargetCaps,
  input: ({ params }) => ({ targetId: params.id }),
  answer: { query: getTarget, params: ({ params }) => params },
  respond: ({ answer, outcome }) => ({ ...answer, reset: outcome.first('TargetCapsReset')?.cleared }),
})

/** Writes of targets (Document 1, "Targets"). */
export const targetWrites: readonly Write[] = [create, change, changeByKey, ...setStatus, resetCaps, testTarget]
