import { z } from 'zod'
import { changeBuyer } from '../../../commands/demand/change-buyer.ts'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { buyerRow, buyerShape } from '../../../queries/demand/buyer-shape.ts'
import { getBuyerRow } from '../../../queries/demand/get-buyer-row.ts'
import { buyerChanges, buyerStatus } from '../../domain/demand/buyer.ts'
import { statusNote } from '../../domain/shared/fields.ts'
import { defineWrite } from './define-write.ts'
import { recordRoute, type Write } from './write-route.ts'

const path = '/api/tracking/buyers'
const byId = recordRoute('buyers')

const create = defineWrite({
  name: 'create-buyer',
  summary: 'Add a buyer',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: createBuyer.input,
  responses: { 201: z.object({ buyer: buyerShape }) },
  command: createBuyer,
  input: ({ body }) => body,
  answer: { query: getBuyerRow, params: ({ outcome }) => ({ id: outcome.first('BuyerCreated')?.buyer.id ?? '' }) },
  respond({ answer }) {
    const { targets: _targets, ...buyer } = answer.buyer
    return { buyer }
  },
})

const change = defineWrite({
  ...byId,
  name: 'change-buyer',
  summary: 'Change a buyer',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: buyerChanges,
  responses: { 200: z.object({ buyer: buyerRow.omit({ today: true }).meta({ id: 'ChangedBuyer' }) }) },
  command: changeBuyer,
  input: ({ params, body }) => ({ buyerId: params.id, changes: body }),
  answer: { query: getBuyerRow, params: ({ params }) => params },
  respond({ answer }) {
    const { today: _today, ...buyer } = answer.buyer
    return { buyer }
  },
})

const setStatus = defineWrite({
  ...byId,
  name: 'set-buyer-status',
  summary: "Change a buyer's status",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/status` }],
  body: z.object({ status: buyerStatus, note: statusNote.nullish() }),
  responses: {
    200: z.object({ buyer: buyerShape, changed: z.boolean(), targetsAffected: z.int().optional() }),
  },
  command: setBuyerStatus,
  input: ({ params, body }) => ({ buyerId: params.id, ...body }),
  answer: { query: getBuyerRow, params: ({ params }) => params },
  respond({ answer, outcome }) {
    const moved = outcome.first('BuyerStatusChanged')
    const affected = moved ? { targetsAffected: moved.targetsAffected } : {}
    const { targets: _targets, ...buyer } = answer.buyer
    return { buyer, changed: outcome.changed, ...affected }
  },
})

/** Writes of buyers (Document 1, "Buyers"). */
export const buyerWrites: readonly Write[] = [create, change, setStatus]
