import { z } from 'zod'
import { callEvents } from '../../src/domain/calls/call.ts'
import { recording } from '../../src/domain/calls/recording.ts'
import type { RecordedOf } from '../../src/kernel/event.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const savedRecording = recording.extend({ carrierCallId: z.string(), createdAt: instant })
/** A saved recording, as it is listed and played. */
export type SavedRecording = Readonly<z.infer<typeof savedRecording>>

const events = { RecordingSaved: callEvents.RecordingSaved }

function savedRecordingOf({ data }: RecordedOf<typeof events>): SavedRecording {
  const { recording, carrierCallId, occurredAt } = data
  return { ...recording, carrierCallId, createdAt: occurredAt }
}

/** Recordings of each call that has any, by call id, in the order in which they were saved. */
export const callRecordings = defineProjection({
  name: 'call-recordings',
  version: 1,
  events,
  doc: z.object({ workspaceId: id, recordings: z.array(savedRecording).readonly() }),
  indexes: [],
  key: ({ data }) => data.callId,
  create: {
    RecordingSaved: (event) =>
      event.meta.workspaceId === null
        ? null
        : { workspaceId: event.meta.workspaceId, recordings: [savedRecordingOf(event)] },
  },
  update: {
    RecordingSaved: (doc, event) => ({ ...doc, recordings: [...doc.recordings, savedRecordingOf(event)] }),
  },
})
