import { z } from 'zod'
import { adjustCall, adjustmentInput } from '../../../commands/calls/adjust-call.ts'
import { conversionInput, postConversion } from '../../../commands/calls/post-conversion.ts'
import { tagCall } from '../../../commands/calls/tag-call.ts'
import { callShape, getCall } from '../../../queries/calls/get-call.ts'
import { call } from '../../domain/calls/call.ts'
import { adjustment } from '../../domain/calls/story.ts'
import { tagsInput } from '../../domain/calls/tags.ts'
import { sameFigures } from '../../domain/money/figures.ts'
import type { Mount, Tenant } from '../../kernel/query.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite } from './define-write.ts'
import type { Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

const mounts = (action: string): readonly Mount[] => [
  { surface: 'rest', path: `/api/v1/calls/:id/${action}`, scope: 'calls:write' },
  { surface: 'console', path: `/api/tracking/calls/:id/${action}` },
]

const params = z.object({ id })

/** A call of another workspace answers the same 404 as one that does not exist. */
async function missingCallParam(
  { writer }: WriteTools,
  { id }: { readonly id: string },
  { workspaceId }: Tenant,
): Promise<string | null> {
  const state = writer.cachedStateOf(call, id, workspaceId) ?? (await writer.stateOf(call, id, workspaceId))
  return state?.workspaceId === workspaceId ? null : 'id'
}

const { tags, tagSources } = callShape.shape

const convert = defineWrite({
  name: 'post-conversion',
  summary: 'Post the conversion of a call',
  method: 'POST',
  mounts: mounts('conversion'),
  params,
  body: conversionInput,
  responses: { 200: z.object({ call: callShape, changed: z.boolean() }) },
  notFoundParam: missingCallParam,
  command: postConversion,
  input: ({ params, body }) => ({ ...body, callId: params.id }),
  runsEffects: true,
  answer: { query: getCall, params: ({ params }) => params },
  respond({ answer: { call }, outcome }) {
    const posted = outcome.first('ConversionPosted')
    return { call, changed: posted !== undefined && !sameFigures(posted.before, posted.after) }
  },
})

const adjust = defineWrite({
  name: 'adjust-call',
  summary: "Adjust a call's books",
  method: 'POST',
  mounts: mounts('adjust'),
  params,
  body: adjustmentInput,
  responses: { 200: z.object({ call: callShape, adjustment }) },
  notFoundParam: missingCallParam,
  command: adjustCall,
  input: ({ params, body }) => ({ ...body, callId: params.id }),
  runsEffects: true,
  answer: { query: getCall, params: ({ params }) => params },
  respond({ answer: { call }, outcome }) {
    const { adjustments } = call
    const added = outcome.first('CallAdjusted')?.adjustmentId
    return { call, adjustment: adjustments.find((each) => each.id === added) ?? adjustments.at(-1) }
  },
})

const tag = defineWrite({
  name: 'tag-call',
  summary: 'Add or remove tags of a call',
  method: 'POST',
  mounts: mounts('tags'),
  params,
  body: z.object({ tags: tagsInput }),
  ownKeyFields: ['tags'],
  responses: { 200: z.object({ tags, tagSources }) },
  notFoundParam: missingCallParam,
  command: tagCall,
  input: ({ params, body }) => ({ ...body, callId: params.id }),
  answer: { query: getCall, params: ({ params }) => params },
  respond: ({ answer: { call } }) => ({ tags: call.tags, tagSources: call.tagSources }),
})

/** Writes of single calls: their books and tags (Document 2, "Calls (REST)"; Supplement §6). */
export const callWrites: readonly Write[] = [convert, adjust, tag]
