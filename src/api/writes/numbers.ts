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
import { attributionOf, numberStatus } from '../../domain/supply/number.ts'
import { collectionOf } from '../../kernel/projection.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import type { StoredDocument } from '../../ports/read-store.ts'
import { createSharedResource } from '../shared-resource.ts'
import { orUpstreamError } from './carrier-errors.ts'
import { defineWrite } from './define-write.ts'
import { defineWriteRoute, recordRoute, type Write } from './write-route.ts'

const path = '/api/tracking/numbers/:id'
const byId = recordRoute('numbers')

/**
 * Moves of one number that overlap are judged against the number as it was when the first of them came in: one is made. What
 * comes in after that one is judged against the number as moved, also while others of the first are still under way.
 */
const withSharedNumber = createSharedResource<StoredDocument | null>()

const change = defineWriteRoute({
  ...byId,
  name: 'change-number',
  summary: 'Assign, move or relabel a number',
  method: 'PATCH',
  mounts: [{ surface: 'console', path }],
  body: numberChanges,
  responses: { 200: z.object({ number: numberShape, warnings: z.array(z.string()) }) },
  rejects: assignNumber.rejects,
  async run({ params, body, tools, tenant, execute, runEffects, query }) {
    const numberId = params.id
    const asItStood = () => tools.views.get(collectionOf(numbers), numberId)
    const changing = async (met: StoredDocument | null, renew: () => void) => {
      const requires =
        met === null ? [] : [requireAttribution({ numberId, expected: attributionOf(numbers.doc.parse(met.doc)) })]
      const outcome = await execute(assignNumber, { numberId, ...body }, { requires })
      if (isRefusal(outcome)) return outcome
      await runEffects()
      const state = await tools.writer.stateOf(workspace, tenant.workspaceId)
      const answer = await query(getNumber, params)
      if (isRefusal(answer)) return answer
      // Not before the read model shows the move.
      if (outcome.first('NumberAssigned')) renew()
      const warnings = hasAttributionInput(body) ? assignmentWarnings(state, numberId, outcome.events) : []
      return { status: 200, body: { ...answer, warnings } }
    }
    return hasAttributionInput(body) ? withSharedNumber(numberId, asItStood, changing) : changing(null, () => undefined)
  },
})

const NOTE = 'The number takes no more calls. It stays yours, and is billed, until our staff has completed the release.'

const release = defineWrite({
  ...byId,
  name: 'release-number',
  summary: 'Ask for the release of a number',
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/release` }],
  allowLapsed: true,
  responses: { 200: z.object({ number: numberShape, note: z.string() }) },
  command: requestNumberRelease,
  input: ({ params }) => ({ numberId: params.id }),
  answer: { query: getNumber, params: ({ params }) => params },
  respond: ({ answer }) => ({ ...answer, note: NOTE }),
})

const staff = '/api/operator/numbers/:id'
const changed = { 200: z.object({ number: numberShape, changed: z.boolean() }) }

const completeRelease = defineWriteRoute({
  ...byId,
  tenantFrom: numbers,
  name: 'complete-number-release',
  summary: 'Complete the release of a number',
  method: 'POST',
  mounts: [{ surface: 'operator', path: `${staff}/complete-release` }],
  responses: changed,
  rejects: [...completeNumberRelease.rejects, 'upstream-error'],
  async run({ params, tools, tenant, execute, query }) {
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
    const outcome = await execute(completeNumberRelease, { numberId })
    if (isRefusal(outcome)) return outcome
    const answer = await query(getNumber, params)
    return isRefusal(answer) ? answer : { status: 200, body: { ...answer, changed: outcome.changed } }
  },
})

const setStatus = defineWrite({
  ...byId,
  tenantFrom: numbers,
  name: 'set-number-status',
  summary: 'Move a number along its machine',
  method: 'POST',
  mounts: [{ surface: 'operator', path: `${staff}/status` }],
  body: z.object({ status: numberStatus }),
  responses: changed,
  command: setNumberStatus,
  input: ({ params, body }) => ({ numberId: params.id, ...body }),
  answer: { query: getNumber, params: ({ params }) => params },
  respond: ({ answer, outcome }) => ({ ...answer, changed: outcome.changed }),
})

/** Writes of numbers that the workspace has (Document 1, "Numbers and blocked callers"), and what the platform's staff does to them. */
export const numberWrites: readonly Write[] = [change, release, completeRelease, setStatus]
