import { callerMemory as memory } from '../../src/domain/routing/caller-memory.ts'
import { admissionOf, connectionOf, later, type Sighting } from '../../src/domain/routing/callers.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import type { RecordedOf } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'

const { CallAdmitted, ClaimConnected } = ledgerEvents
const events = { CallAdmitted, ClaimConnected }

function sightingsOf({ type, data }: RecordedOf<typeof events>): readonly Sighting[] {
  if (type === 'ClaimConnected') return connectionOf(data.callerKey, data.targetId, data.occurredAt)
  return admissionOf(data.arrival)
}

function seenAs(event: RecordedOf<typeof events>, id: string) {
  const [, seen] = sightingsOf(event).find(([key]) => key === id) ?? []
  return seen ? { ...seen, workspaceId: workspaceIdOf(event) } : null
}

type Doc = ReturnType<typeof seenAs>

/** A call dated in the past does not hide a later one. */
const seenAgain = (doc: Doc, event: RecordedOf<typeof events>, id: string): Doc => {
  const seen = seenAs(event, id)
  return doc && seen && later(doc, seen) === seen ? seen : doc
}

/** Callers whom campaigns, lanes and targets saw last: the memory of those whom the ledger's fold has forgotten. */
export const callerMemory = defineProjection({
  name: memory.name,
  version: 2,
  events,
  doc: memory.doc,
  indexes: [],
  key: (event) => sightingsOf(event).map(([key]) => key),
  starts: { CallAdmitted: seenAs, ClaimConnected: seenAs },
  on: { CallAdmitted: seenAgain, ClaimConnected: seenAgain },
})
