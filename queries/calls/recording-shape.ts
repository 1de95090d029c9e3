import { z } from 'zod'
import type { SavedRecording } from '../../projections/calls/call-recordings.ts'
import { recording } from '../../src/domain/calls/recording.ts'
import type { Mount } from '../../src/kernel/query.ts'
import { instant } from '../../src/kernel/wire.ts'

const { id, format, channels, durationSeconds, expiresAt } = recording.shape

/** A recording as its call lists it (Document 2, Call detail); `url` is the path of its audio on the surface of the request. */
export const recordingShape = z
  .object({
    id,
    format,
    channels,
    durationSeconds,
    createdAt: instant,
    expiresAt,
    url: z.string(),
  })
  .meta({ id: 'Recording' })

/** Paths of recordings' audio, by surface. */
export const AUDIO_PATHS = {
  rest: '/api/v1/calls/:id/recordings/:rid/audio',
  console: '/api/tracking/calls/:id/recordings/:rid/audio',
} as const

/** A recording for a response. */
export function recordingOf(
  { id, format, channels, durationSeconds, createdAt, expiresAt }: SavedRecording,
  callId: string,
  surface: Mount['surface'],
): z.infer<typeof recordingShape> {
  const path = AUDIO_PATHS[surface === 'rest' ? 'rest' : 'console']
  const url = path.replace(':id', callId).replace(':rid', id)
  return { id, format, channels, durationSeconds, createdAt, expiresAt, url }
}
