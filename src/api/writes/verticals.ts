import { z } from 'zod'
import { changeVertical } from '../../../commands/campaigns/change-vertical.ts'
import { createVertical } from '../../../commands/campaigns/create-vertical.ts'
import { getVertical } from '../../../queries/campaigns/get-vertical.ts'
import { verticalShape } from '../../../queries/campaigns/vertical-shape.ts'
import { verticalChanges } from '../../domain/campaigns/vertical.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite, type Write } from './define-write.ts'

const path = '/api/tracking/verticals'
const shown = z.object({ vertical: verticalShape })

const create = defineWrite({
  name: 'create-vertical',
  summary: 'Add a vertical',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: createVertical.input,
  responses: { 201: shown },
  rejects: createVertical.rejects,
  async run({ body, act, ask }) {
    const done = await act(createVertical, body)
    if (isRefusal(done)) return done
    const answer = await ask(getVertical, { id: done.first('VerticalCreated')?.vertical.id ?? '' })
    return isRefusal(answer) ? answer : { status: 201, body: answer }
  },
})

const change = defineWrite({
  name: 'change-vertical',
  summary: 'Put a vertical away, or take it up again',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  params: z.object({ id }),
  record: ({ id }) => id,
  body: verticalChanges,
  responses: { 200: shown },
  rejects: changeVertical.rejects,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(changeVertical, { verticalId: id, changes: body })
    if (isRefusal(done)) return done
    const answer = await ask(getVertical, { id })
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

/** Writes of a workspace's own verticals (Supplement §5). */
export const verticalWrites: readonly Write[] = [create, change]
