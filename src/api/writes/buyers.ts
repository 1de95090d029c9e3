import { z } from 'zod'
import { changeBuyer } from '../../../commands/demand/change-buyer.ts'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { setBuyerStatus } from '../../../commands/demand/set-buyer-status.ts'
import { buyerRow, buyerShape } from '../../../queries/demand/buyer-shape.ts'
import { getBuyerRow } from '../../../queries/demand/get-buyer-row.ts'
import { buyerChanges, buyerStatus } from '../../domain/demand/buyer.ts'
import { statusNote } from '../../domain/shared/fields.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { defineWrite, recordRoute, type Write } from './define-write.ts'

const path = '/api/tracking/buyers'
const one = recordRoute('buyers')

const create = defineWrite({
  name: 'create-buyer',
  summary: 'Add a buyer',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: createBuyer.input,
  responses: { 201: z.object({ buyer: buyerShape }) },
  rejects: createBuyer.rejects,
  async run({ body, act, ask }) {
    const done = await act(createBuyer, body)
    if (isRefusal(done)) return done
    const answer = await ask(getBuyerRow, { id: done.first('BuyerCreated')?.buyer.id ?? '' })
    if (isRefusal(answer)) return answer
    const { targets: _targets, ...buyer } = answer.buyer
    return { status: 201, body: { buyer } }
  },
})

const change = defineWrite({
  ...one,
  name: 'change-buyer',
  summary: 'Change a buyer',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: buyerChanges,
  responses: { 200: z.object({ buyer: buyerRow.omit({ today: true }) }) },
  rejects: changeBuyer.rejects,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(changeBuyer, { buyerId: id, changes: body })
    if (isRefusal(done)) return done
    const answer = await ask(getBuyerRow, { id })
    if (isRefusal(answer)) return answer
    const { today: _today, ...buyer } = answer.buyer
    return { status: 200, body: { buyer } }
  },
})

const setStatus = defineWrite({
  ...one,
  name: 'set-buyer-status',
  summary: "Change a buyer's status",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/status` }],
  body: z.object({ status: buyerStatus, note: statusNote.nullish() }),
  responses: {
    200: z.object({ buyer: buyerShape, changed: z.boolean(), targetsAffected: z.int().optional() }),
  },
  rejects: setBuyerStatus.rejects,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(setBuyerStatus, { buyerId: id, ...body })
    if (isRefusal(done)) return done
    const answer = await ask(getBuyerRow, { id })
    if (isRefusal(answer)) return answer
    const moved = done.first('BuyerStatusChanged')
    const affected = moved ? { targetsAffected: moved.targetsAffected } : {}
    const { targets: _targets, ...buyer } = answer.buyer
    return { status: 200, body: { buyer, changed: done.changed, ...affected } }
  },
})

/** Writes of buyers (Document 1, "Buyers"). */
export const buyerWrites: readonly Write[] = [create, change, setStatus]
