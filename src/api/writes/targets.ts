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
import { capFigures } from '../../domain/routing/ledger.ts'
import { statusNote } from '../../domain/shared/fields.ts'
import { TARGET } from '../../domain/shared/limits.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { defineWrite, recordRoute, type Write } from './define-write.ts'
import { testTarget } from './target-test.ts'

const paths = { console: '/api/tracking/targets', rest: '/api/v1/targets' } as const
const scope = 'targets:write'
const one = recordRoute('targets')

/** Dialling as a person sends it: the password in plain, to be sealed at once. */
const endpointInput = endpointSettings
  .omit({ sipSecret: true })
  .extend({ sipPassword: z.string().min(1).max(TARGET.sipField).nullable() })
  .partial()
type EndpointInput = Readonly<z.infer<typeof endpointInput>>

/** Bidding as a person sends it: the values of its headers in plain, to be sealed at once. */
const rtbInput = rtb.partial()
type RtbInput = Readonly<z.infer<typeof rtbInput>>

/** A password shorter than this would be told, whole or nearly, by its last four characters. */
const MIN_LENGTH_FOR_LAST4 = 5

/** The bidding of a request with the values of its headers sealed; one that has not changed stays as it was sealed. */
function sealRtb(secrets: Secrets, sent: RtbInput | undefined, kept: Target | undefined): Pick<TargetInput, 'rtb'> {
  if (sent?.bidHeaders === undefined) return sent === undefined ? {} : { rtb: sent }
  const before = kept?.rtb?.bidHeaders ?? {}
  const bidHeaders = Object.entries(sent.bidHeaders).map(([name, value]) => {
    const old = before[name]
    return [name, old !== undefined && secrets.unseal(old) === value ? old : secrets.seal(value)]
  })
  return { rtb: { ...sent, bidHeaders: Object.fromEntries(bidHeaders) } }
}

/** The dialling of a request with its password sealed. */
function sealEndpoint(secrets: Secrets, sent: EndpointInput | undefined): Pick<TargetInput, 'endpoint'> {
  if (sent === undefined) return {}
  const { sipPassword, ...plain } = sent
  if (sipPassword === undefined) return { endpoint: plain }
  const last4 = sipPassword === null || sipPassword.length < MIN_LENGTH_FOR_LAST4 ? null : sipPassword.slice(-4)
  const sipSecret = sipPassword === null ? null : { sealed: secrets.seal(sipPassword), last4 }
  return { endpoint: { ...plain, sipSecret } }
}

const create = defineWrite({
  name: 'create-target',
  summary: 'Add a target',
  method: 'POST',
  mounts: [{ surface: 'console', path: paths.console }],
  body: newTargetInput.extend({ endpoint: endpointInput.optional(), rtb: rtbInput.optional() }),
  responses: { 201: targetResponse },
  rejects: createTarget.rejects,
  async run({ body: { endpoint, rtb, ...sent }, tools: { secrets }, act, ask }) {
    const kept = { ...sealEndpoint(secrets, endpoint), ...sealRtb(secrets, rtb, undefined) }
    const done = await act(createTarget, { ...sent, ...kept })
    if (isRefusal(done)) return done
    const read = await ask(getTarget, { id: done.first('TargetCreated')?.target.id ?? '' })
    return isRefusal(read) ? read : { status: 201, body: read }
  },
})

const change = defineWrite({
  ...one,
  name: 'change-target',
  summary: 'Change a target',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${paths.console}/:id` }],
  body: targetInput.extend({ endpoint: endpointInput.optional(), rtb: rtbInput.optional() }),
  responses: { 200: targetResponse },
  rejects: changeTarget.rejects,
  async run({ params: { id }, body: { endpoint, rtb, ...sent }, tenant, tools: { secrets, writer }, act, ask }) {
    const { targets } = await writer.stateOf(workspace, tenant.workspaceId)
    const kept = { ...sealEndpoint(secrets, endpoint), ...sealRtb(secrets, rtb, targets.get(id)) }
    const done = await act(changeTarget, { targetId: id, changes: { ...sent, ...kept } })
    if (isRefusal(done)) return done
    const read = await ask(getTarget, { id })
    return isRefusal(read) ? read : { status: 200, body: read }
  },
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

/** Every other field that a target is known by, in answers, in what the console sends or in Document 1's own words. */
const consoleOnly = [targetResponse.shape.target, targetInput, endpoint, endpointShape, endpointInput, rtb]
  .flatMap(({ shape }) => Object.keys(shape))
  .concat('credentials')
  .filter((field) => !Object.hasOwn(keyWritable.shape, field))

const changeByKey = defineWrite({
  ...one,
  name: 'change-target-caps',
  summary: "Change a target's price, caps, hours or states",
  method: 'PATCH',
  mounts: [{ surface: 'rest', path: `${paths.rest}/:id`, scope }],
  body: keyWritable,
  readOnlyFields: [...new Set(consoleOnly)],
  responses: { 200: targetResponse },
  rejects: changeTarget.rejects,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(changeTarget, { targetId: id, changes: body })
    if (isRefusal(done)) return done
    const read = await ask(getTarget, { id })
    return isRefusal(read) ? read : { status: 200, body: read }
  },
})

/** The two status routes: what a body may name, and who moves. */
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
    ...one,
    name,
    summary,
    method: 'POST',
    mounts: [mount],
    body: z.object({ status, note: statusNote.nullish() }),
    responses: { 200: targetResponse.extend({ changed: z.boolean(), removedRoutes: z.int() }) },
    rejects: setTargetStatus.rejects,
    async run({ params: { id }, body, act, ask }) {
      const done = await act(setTargetStatus, { targetId: id, ...body, by })
      if (isRefusal(done)) return done
      const read = await ask(getTarget, { id })
      if (isRefusal(read)) return read
      const removedRoutes = done.first('TargetStatusChanged')?.removedFrom.length ?? 0
      return { status: 200, body: { ...read, changed: done.changed, removedRoutes } }
    },
  }),
)

const resetCaps = defineWrite({
  params: one.params,
  pathRecords: one.pathRecords,
  name: 'reset-target-caps',
  summary: 'Zero what a target has used of its caps',
  method: 'POST',
  mounts: [
    { surface: 'rest', path: `${paths.rest}/:id/reset-caps`, scope },
    { surface: 'console', path: `${paths.console}/:id/reset-caps` },
  ],
  responses: { 200: targetResponse.extend({ reset: capFigures }) },
  rejects: resetTargetCaps.rejects,
  async run({ params: { id }, act, ask }) {
    const done = await act(resetTargetCaps, { targetId: id })
    if (isRefusal(done)) return done
    const read = await ask(getTarget, { id })
    if (isRefusal(read)) return read
    return { status: 200, body: { ...read, reset: done.first('TargetCapsReset')?.cleared } }
  },
})

/** Writes of targets (Document 1, "Targets"). */
export const targetWrites: readonly Write[] = [create, change, changeByKey, ...setStatus, resetCaps, testTarget]
