import { z } from 'zod'
import { changePublisher } from '../../../commands/supply/change-publisher.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { getPublisher } from '../../../queries/supply/get-publisher.ts'
import { publisherShape } from '../../../queries/supply/publisher-shape.ts'
import { publisherChanges, publisherStatusInput } from '../../domain/supply/publisher.ts'
import { defineWrite } from './define-write.ts'
import { recordRoute, type Write } from './write-route.ts'

const path = '/api/tracking/publishers'
const byId = recordRoute('publishers')

const create = defineWrite({
  name: 'create-publisher',
  summary: 'Add a publisher',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: createPublisher.input,
  responses: { 201: z.object({ publisher: publisherShape }) },
  command: createPublisher,
  input: ({ body }) => body,
  answer: {
    query: getPublisher,
    params: ({ outcome }) => ({ id: outcome.first('PublisherCreated')?.publisher.id ?? '' }),
  },
})

const change = defineWrite({
  ...byId,
  name: 'change-publisher',
  summary: 'Change a publisher',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: publisherChanges,
  responses: { 200: z.object({ publisher: publisherShape }) },
  command: changePublisher,
  input: ({ params, body }) => ({ publisherId: params.id, changes: body }),
  answer: { query: getPublisher, params: ({ params }) => params },
})

const setStatus = defineWrite({
  ...byId,
  name: 'set-publisher-status',
  summary: "Change a publisher's status",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/status` }],
  body: publisherStatusInput,
  responses: { 200: z.object({ publisher: publisherShape, changed: z.boolean() }) },
  command: setPublisherStatus,
  input: ({ params, body }) => ({ publisherId: params.id, ...body }),
  answer: { query: getPublisher, params: ({ params }) => params },
  respond: ({ answer, outcome }) => ({ ...answer, changed: outcome.changed }),
})

/** Writes of publishers (Supplement §4). */
export const publisherWrites: readonly Write[] = [create, change, setStatus]
