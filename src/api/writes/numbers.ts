import { z } from 'zod'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { completeNumberRelease } from '../../../commands/supply/complete-number-release.ts'
import { requestNumberRelease } from '../../../commands/supply/request-number-release.ts'
import { setNumberStatus } from '../../../commands/supply/set-number-status.ts'
import { numbers } from '../../../projections/supply/numbers.ts'
import { getNumber } from '../../../queries/supply/get-number.ts'
import { numberShape } from '../../../queries/supply/number-shape.ts'
import {
  assignmentWarnings,
  hasAttributionInput,
  numberChanges,
  requireAttribution,
} from '../../domain/configuration/attribution.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { numberStatus } from '../../domain/supply/number.ts'
import { collectionOf } from '../../kernel/projection.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import type { StoredDocument } from '../../ports/read-store.ts'
import { createSharedResource } from '../shared-resource.ts'
import { orUpstreamError } from './carrier-errors.ts'
import { defineWrite, recordRoute, type Write } from './define-write.ts'

const path = '/api/tracking/numbers/:id'
const one = recordRoute('numbers')

/** Moves of one number that overlap are judged against the number as it was when the first of them came in: one is made. */
const withSharedNumber = createSharedResource<StoredDocument | null>()

const change = defineWrite({
  ...one,
  name: 'change-number',
  summary: 'Assign, move or relabel a number',
  method: 'PATCH',
  mounts: [{ surface: 'console', path }],
  body: numberChanges,
  responses: { 200: z.object({ number: numberShape, warnings: z.array(z.string()) }) },
  rejects: assignNumber.rejects,
  async run({ params, body, tools, tenant, act, runEffects, ask }) {
    const numberId = params.id
    const asItStood = () => tools.views.get(collectionOf(numbers), numberId)
    const changing = async (met: StoredDocument | null) => {
      const guard = met === null ? undefined : requireAttribution(numberId, numbers.doc.parse(met.doc))
      const done = await act(assignNumber, { numberId, ...body }, guard && { guard })
      if (isRefusal(done)) return done
      await runEffects()
      const state = await tools.writer.stateOf(workspace, tenant.workspaceId)
      const answer = await ask(getNumber, params)
      if (isRefusal(answer)) return answer
      const warnings = hasAttributionInput(body) ? assignmentWarnings(state, numberId, done.events) : []
      return { status: 200, body: { ...answer, warnings } }
    }
    return hasAttributionInput(body) ? withSharedNumber(numberId, asItStood, changing) : changing(null)
  },
})

const NOTE = 'The number takes no more calls. It stays yours, and is billed, until our staff has completed the release.'

const release = defineWrite({
  ...one,
  name: 'release-number',
  summary: 'Ask for the release of a number',
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/release` }],
  allowLapsed: true,
  responses: { 200: z.object({ number: numberShape, note: z.string() }) },
  rejects: requestNumberRelease.rejects,
  async run({ params, act, ask }) {
    const done = await act(requestNumberRelease, { numberId: params.id })
    if (isRefusal(done)) return done
    const answer = await ask(getNumber, params)
    return isRefusal(answer) ? answer : { status: 200, body: { ...answer, note: NOTE } }
  },
})

const staff = '/api/operator/numbers/:id'
const changed = { 200: z.object({ number: numberShape, changed: z.boolean() }) }

const completeRelease = defineWrite({
  ...one,
  tenantFrom: numbers,
  name: 'complete-number-release',
  summary: 'Complete the release of a number',
  method: 'POST',
  mounts: [{ surface: 'operator', path: `${staff}/complete-release` }],
  responses: changed,
  rejects: [...completeNumberRelease.rejects, 'upstream-error'],
  async run({ params, tools, tenant, act, ask }) {
    const numberId = params.id
    const { workspaceId } = tenant
    const number = (await tools.writer.stateOf(workspace, workspaceId)).numbers.get(numberId)
    if (number && number.status !== 'released' && number.releaseRequestedAt !== null) {
      const { numbers: renting } = tools.carrier()
      // First at the carrier, who does it once: what fails after it is done again with the next request.
      const given = await orUpstreamError(async () =>
        renting?.release({ commandId: `release:${numberId}`, e164: number.e164 }),
      )
      if (isRefusal(given)) return given
    }
    const done = await act(completeNumberRelease, { numberId })
    if (isRefusal(done)) return done
    const answer = await ask(getNumber, params)
    return isRefusal(answer) ? answer : { status: 200, body: { ...answer, changed: done.changed } }
  },
})

const setStatus = defineWrite({
  ...one,
  tenantFrom: numbers,
  name: 'set-number-status',
  summary: 'Move a number along its machine',
  method: 'POST',
  mounts: [{ surface: 'operator', path: `${staff}/status` }],
  body: z.object({ status: numberStatus }),
  responses: changed,
  rejects: setNumberStatus.rejects,
  async run({ params, body, act, ask }) {
    const done = await act(setNumberStatus, { numberId: params.id, ...body })
    if (isRefusal(done)) return done
    const answer = await ask(getNumber, params)
    return isRefusal(answer) ? answer : { status: 200, body: { ...answer, changed: done.changed } }
  },
})

/** Writes of numbers that the workspace has (Document 1, "Numbers and blocked callers"), and what the platform's staff does to them. */
export const numberWrites: readonly Write[] = [change, release, completeRelease, setStatus]
