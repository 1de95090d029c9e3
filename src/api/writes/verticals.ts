import { z } from 'zod'
import { changeVertical } from '../../../commands/campaigns/change-vertical.ts'
import { createVertical } from '../../../commands/campaigns/create-vertical.ts'
import { getVertical } from '../../../queries/campaigns/get-vertical.ts'
import { verticalShape } from '../../../queries/campaigns/vertical-shape.ts'
import { verticalChanges } from '../../domain/campaigns/vertical.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'

const path = '/api/tracking/verticals'
const verticalResponse = z.object({ vertical: verticalShape })

const create = defineWrite({
  name: 'create-vertical',
  summary: 'Add a vertical',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: createVertical.input,
  responses: { 201: verticalResponse },
  command: createVertical,
  input: ({ body }) => body,
  answer: {
    query: getVertical,
    params: ({ outcome }) => ({ id: outcome.first('VerticalCreated')?.vertical.id ?? '' }),
  },
})

const change = defineWrite({
  name: 'change-vertical',
  summary: 'Archive a vertical, or restore it',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  params: z.object({ id }),
  record: ({ id }) => id,
  body: verticalChanges,
  responses: { 200: verticalResponse },
  command: changeVertical,
  input: ({ params, body }) => ({ verticalId: params.id, changes: body }),
  answer: { query: getVertical, params: ({ params }) => params },
})

/** Writes of a workspace's own verticals (Supplement §5). */
export const verticalWrites: readonly Write[] = [create, change]
