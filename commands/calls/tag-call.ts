import { z } from 'zod'
import { call } from '../../src/domain/calls/call.ts'
import { applyTagChanges, tagChanges, tagsInput } from '../../src/domain/calls/tags.ts'
import { TAG } from '../../src/domain/shared/limits.ts'
import { refuseEmptyChange, refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Sets and removes tags of a call, in progress or ended. Idempotent: a tag that has the value already does not change. */
export const tagCall = defineCommand({
  name: 'tag-call',
  entity: call,
  input: z.object({ callId: id, tags: tagsInput }),
  id: ({ callId }) => callId,
  rejects: ['call-not-found', 'bad-request'],
  decide({ callId, tags: sent }, state, { now, workspaceId, actor }) {
    if (state?.workspaceId !== workspaceId) return refuseNotFound('call')
    const keys = Object.keys(sent).length
    if (keys === 0) return refuseEmptyChange()
    if (keys > TAG.request) {
      return refuse('bad-request', { tags: `must be at most ${TAG.request} keys in one request, not ${keys}` })
    }
    const changes = tagChanges(state.tags, sent)
    if (changes.length === 0) return []
    const count = applyTagChanges(state.tags, changes).size
    if (count > TAG.call && count > state.tags.size) {
      return refuse('bad-request', { tags: `must leave at most ${TAG.call} tags on the call, not ${count}` })
    }
    const source = actor.type === 'key' ? ('api' as const) : ('user' as const)
    return [{ type: 'CallTagged', data: { callId, ref: state.arrival.ref, occurredAt: now, source, changes } }]
  },
})
