import { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { callRecordings } from '../../projections/calls/call-recordings.ts'
import { callStory } from '../../projections/calls/call-story.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readOne } from '../shared/documents.ts'
import { callDetail, callDetailOf } from './call-detail.ts'
import { storyOf, storyShape } from './story-shape.ts'

/** A call in a response of its own. The documents name the story in both places. */
export const callShape = callDetail.extend({ story: storyShape }).meta({ id: 'Call' })

/** A call in full, with the story of how it was routed. */
export const getCall = defineQuery({
  name: 'get-call',
  summary: 'Read a call and its story',
  mounts: [
    { surface: 'rest', path: '/api/v1/calls/:id', scope: 'calls:read' },
    { surface: 'console', path: '/api/tracking/calls/:id' },
  ],
  params: z.object({ id }),
  query: z.object({}),
  response: z.object({ call: callShape, story: storyShape }),
  reads: [callLog, callRecordings, callStory],
  rejects: ['call-not-found'],
  async run({ views }: QueryPorts, { params, tenant: { workspaceId }, surface }) {
    const [call, story, recorded] = await Promise.all([
      readOne(views, callLog, workspaceId, params.id),
      readOne(views, callStory, workspaceId, params.id),
      readOne(views, callRecordings, workspaceId, params.id),
    ])
    if (!call || !story) return refuse('call-not-found')
    const storyResponse = storyOf(call, story)
    return {
      call: { ...callDetailOf(call, story, recorded?.recordings ?? [], surface), story: storyResponse },
      story: storyResponse,
    }
  },
})
