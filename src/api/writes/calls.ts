import { z } from 'zod'
import { adjustCall, adjustmentInput } from '../../../commands/calls/adjust-call.ts'
import { conversionInput, postConversion } from '../../../commands/calls/post-conversion.ts'
import { tagCall } from '../../../commands/calls/tag-call.ts'
import { callDetail } from '../../../queries/calls/call-detail.ts'
import { getCall } from '../../../queries/calls/get-call.ts'
import { call } from '../../domain/calls/call.ts'
import { adjustment } from '../../domain/calls/story.ts'
import { tagsInput } from '../../domain/calls/tags.ts'
import { sameFigures } from '../../domain/money/figures.ts'
import type { Mount, Tenant } from '../../kernel/query.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { defineWrite, type Write } from './define-write.ts'
import type { WriteTools } from './write-context.ts'

const mounts = (act: string): readonly Mount[] => [
  { surface: 'rest', path: `/api/v1/calls/:id/${act}`, scope: 'calls:write' },
  { surface: 'console', path: `/api/tracking/calls/:id/${act}` },
]

const one = z.object({ id })

/** A call of another workspace is as absent as one that there never was. */
async function missingCallParam(
  { writer }: WriteTools,
  { id }: { readonly id: string },
  { workspaceId }: Tenant,
): Promise<string | null> {
  const known = writer.cachedStateOf(call, id) ?? (await writer.stateOf(call, id))
  return known?.workspaceId === workspaceId ? null : 'id'
}

const { tags, tagSources } = callDetail.shape

const convert = defineWrite({
  name: 'post-conversion',
  summary: 'Post the conversion of a call',
  method: 'POST',
  mounts: mounts('conversion'),
  params: one,
  body: conversionInput,
  responses: { 200: z.object({ call: callDetail, changed: z.boolean() }) },
  rejects: postConversion.rejects,
  notFoundParam: missingCallParam,
  async run({ params: { id }, body, act, runEffects, ask }) {
    const done = await act(postConversion, { ...body, callId: id })
    if (isRefusal(done)) return done
    await runEffects()
    const read = await ask(getCall, { id })
    if (isRefusal(read)) return read
    const posted = done.first('ConversionPosted')
    const changed = posted !== undefined && !sameFigures(posted.before, posted.after)
    return { status: 200, body: { call: read.call, changed } }
  },
})

const adjust = defineWrite({
  name: 'adjust-call',
  summary: "Adjust a call's books",
  method: 'POST',
  mounts: mounts('adjust'),
  params: one,
  body: adjustmentInput,
  responses: { 200: z.object({ call: callDetail, adjustment }) },
  rejects: adjustCall.rejects,
  notFoundParam: missingCallParam,
  async run({ params: { id }, body, act, runEffects, ask }) {
    const done = await act(adjustCall, { ...body, callId: id })
    if (isRefusal(done)) return done
    await runEffects()
    const read = await ask(getCall, { id })
    if (isRefusal(read)) return read
    const { adjustments } = read.call
    const made = done.first('CallAdjusted')?.adjustmentId
    return {
      status: 200,
      body: { call: read.call, adjustment: adjustments.find((each) => each.id === made) ?? adjustments.at(-1) },
    }
  },
})

const tag = defineWrite({
  name: 'tag-call',
  summary: 'Add or remove tags of a call',
  method: 'POST',
  mounts: mounts('tags'),
  params: one,
  body: z.object({ tags: tagsInput }),
  responses: { 200: z.object({ tags, tagSources }) },
  rejects: tagCall.rejects,
  notFoundParam: missingCallParam,
  async run({ params: { id }, body, act, ask }) {
    const done = await act(tagCall, { ...body, callId: id })
    if (isRefusal(done)) return done
    const read = await ask(getCall, { id })
    return isRefusal(read) ? read : { status: 200, body: { tags: read.call.tags, tagSources: read.call.tagSources } }
  },
})

/** Writes of single calls: their books and tags (Document 2, "Calls (REST)"; Supplement §6). */
export const callWrites: readonly Write[] = [convert, adjust, tag]
