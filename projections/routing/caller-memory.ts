import { callerMemory as memory } from '../../src/domain/routing/caller-memory.ts'
import {
  admissionSightings,
  connectionSightings,
  type KeyedSighting,
  laterSighting,
} from '../../src/domain/routing/callers.ts'
import { ledgerEvents } from '../../src/domain/routing/ledger-events.ts'
import { workspaceIdOf } from '../../src/kernel/entity.ts'
import type { RecordedOf } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'

const { CallAdmitted, ClaimConnected } = ledgerEvents
const events = { CallAdmitted, ClaimConnected }

function keyedSightingsOf({ type, data }: RecordedOf<typeof events>): readonly KeyedSighting[] {
  if (type === 'ClaimConnected') return connectionSightings(data.callerKey, data.targetId, data.occurredAt)
  return admissionSightings(data.arrival)
}

function createDoc(event: RecordedOf<typeof events>, id: string) {
  const [, seen] = keyedSightingsOf(event).find(([key]) => key === id) ?? []
  return seen ? { ...seen, workspaceId: workspaceIdOf(event) } : null
}

type Doc = ReturnType<typeof createDoc>

/** Keeps the later sighting: calls may be dated in the past. */
const updateDoc = (doc: Doc, event: RecordedOf<typeof events>, id: string): Doc => {
  const seen = createDoc(event, id)
  return doc && seen && laterSighting(doc, seen) === seen ? seen : doc
}

/** Latest sightings of callers by campaigns, lanes and targets: decisions look up those that the ledger's fold has dropped. */
export const callerMemory = defineProjection({
  name: memory.name,
  version: 2,
  events,
  doc: memory.doc,
  indexes: [],
  key: (event) => keyedSightingsOf(event).map(([key]) => key),
  create: { CallAdmitted: createDoc, ClaimConnected: createDoc },
  update: { CallAdmitted: updateDoc, ClaimConnected: updateDoc },
})
