import { z } from 'zod'
import { callEvents } from '../../src/domain/calls/call.ts'
import { recording } from '../../src/domain/calls/recording.ts'
import type { RecordedOf } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const kept = recording.extend({ carrierCallId: z.string(), createdAt: instant })
/** A recording as it can be listed and played. */
export type KeptRecording = Readonly<z.infer<typeof kept>>

const events = { RecordingSaved: callEvents.RecordingSaved }

function keptOf({ data }: RecordedOf<typeof events>): KeptRecording {
  const { recording, carrierCallId, occurredAt } = data
  return { ...recording, carrierCallId, createdAt: occurredAt }
}

/** The recordings of a call that has any, by the call's id, in the order in which they were saved. */
export const callRecordings = defineProjection({
  name: 'call-recordings',
  version: 1,
  events,
  doc: z.object({ workspaceId: id, recordings: z.array(kept).readonly() }),
  indexes: [],
  key: ({ data }) => data.callId,
  starts: {
    RecordingSaved: (event) =>
      event.meta.workspaceId === null ? null : { workspaceId: event.meta.workspaceId, recordings: [keptOf(event)] },
  },
  on: {
    RecordingSaved: (doc, event) => ({ ...doc, recordings: [...doc.recordings, keptOf(event)] }),
  },
})
