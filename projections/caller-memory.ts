import { callerMemory as memory } from '../src/domain/caller-memory.ts'
import { callerKey, ledgerEvents } from '../src/domain/ledger.ts'
import { workspaceIdOf } from '../src/domain/workspace.ts'
import { defineProjection } from '../src/kernel/projection.ts'

const { CallAdmitted, ClaimConnected } = ledgerEvents

/** Callers that campaigns let in, by `callerKey`: the memory of those whom the ledger's fold has forgotten. */
export const callerMemory = defineProjection({
  name: memory.name,
  version: 1,
  events: { CallAdmitted, ClaimConnected },
  doc: memory.doc,
  indexes: [],
  key({ type, data }) {
    if (type === 'ClaimConnected') return data.callerKey
    const { campaign, caller } = data.arrival
    return campaign && caller ? callerKey(campaign.id, caller) : null
  },
  starts: {
    CallAdmitted: (event) => ({
      workspaceId: workspaceIdOf(event),
      at: event.data.arrival.occurredAt,
      targetId: null,
    }),
  },
  on: {
    // A call dated in the past does not hide a later one.
    CallAdmitted: (doc, { data: { arrival } }) =>
      arrival.occurredAt < doc.at ? doc : { ...doc, at: arrival.occurredAt, targetId: null },
    ClaimConnected: (doc, { data }) => ({ ...doc, targetId: data.targetId }),
  },
})
