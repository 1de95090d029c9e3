import { countedCallOf, recountedCallOf } from '../../src/domain/routing/counted-call.ts'
import { countedCallMemory as memory } from '../../src/domain/routing/counted-call-memory.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import { defineProjection } from '../../src/kernel/projection.ts'

const { CallCounted, CallRecounted } = ledgerEvents

/** What is counted of each call, by call id: decisions look up calls that the ledger's fold has dropped. */
export const bookedCalls = defineProjection({
  name: memory.name,
  version: 1,
  events: { CallCounted, CallRecounted },
  doc: memory.doc,
  indexes: [],
  key: ({ data }) => data.callId,
  create: {
    CallCounted: (event) => ({ ...countedCallOf(event.data, event.revision), workspaceId: workspaceIdOf(event) }),
    CallRecounted: (event) => ({ ...recountedCallOf(null, event.data), workspaceId: workspaceIdOf(event) }),
  },
  update: {
    CallRecounted: (doc, { data }) => ({ ...recountedCallOf(doc, data), workspaceId: doc.workspaceId }),
  },
})
