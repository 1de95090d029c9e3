import { z } from 'zod'
import { changePublisher } from '../../../commands/supply/change-publisher.ts'
import { createPublisher } from '../../../commands/supply/create-publisher.ts'
import { setPublisherStatus } from '../../../commands/supply/set-publisher-status.ts'
import { getPublisher } from '../../../queries/supply/get-publisher.ts'
import { publisherShape } from '../../../queries/supply/publisher-shape.ts'
import { publisherChanges, publisherStatusInput } from '../../domain/supply/publisher.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { defineWrite, recordRoute, type Write } from './define-write.ts'

const path = '/api/tracking/publishers'
const one = recordRoute('publishers')

const create = defineWrite({
  name: 'create-publisher',
  summary: 'Add a publisher',
  method: 'POST',
  mounts: [{ surface: 'console', path }],
  body: createPublisher.input,
  responses: { 201: z.object({ publisher: publisherShape }) },
  rejects: createPublisher.rejects,
  async run({ body, act, ask }) {
    const done = await act(createPublisher, body)
    if (isRefusal(done)) return done
    const answer = await ask(getPublisher, { id: done.first('PublisherCreated')?.publisher.id ?? '' })
    return isRefusal(answer) ? answer : { status: 201, body: answer }
  },
})

const change = defineWrite({
  ...one,
  name: 'change-publisher',
  summary: 'Change a publisher',
  method: 'PATCH',
  mounts: [{ surface: 'console', path: `${path}/:id` }],
  body: publisherChanges,
  responses: { 200: z.object({ publisher: publisherShape }) },
  rejects: changePublisher.rejects,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(changePublisher, { publisherId: id, changes: body })
    if (isRefusal(done)) return done
    const answer = await ask(getPublisher, { id })
    return isRefusal(answer) ? answer : { status: 200, body: answer }
  },
})

const setStatus = defineWrite({
  ...one,
  name: 'set-publisher-status',
  summary: "Change a publisher's status",
  method: 'POST',
  mounts: [{ surface: 'console', path: `${path}/:id/status` }],
  body: publisherStatusInput,
  responses: { 200: z.object({ publisher: publisherShape, changed: z.boolean() }) },
  rejects: setPublisherStatus.rejects,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(setPublisherStatus, { publisherId: id, ...body })
    if (isRefusal(done)) return done
    const answer = await ask(getPublisher, { id })
    return isRefusal(answer) ? answer : { status: 200, body: { ...answer, changed: done.changed } }
  },
})

/** Writes of publishers (Supplement §4). */
export const publisherWrites: readonly Write[] = [create, change, setStatus]
