import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { RECORDING } from '../shared/limits.ts'

/** A recording that the carrier saved, and holds until `expiresAt`. */
export const recording = z.object({
  id,
  carrierRecordingId: z.string().min(1).max(RECORDING.carrierId),
  format: z.enum(['mp3', 'wav']),
  channels: z.int().min(1).max(RECORDING.channels),
  durationSeconds: z.int().min(0),
  expiresAt: instant,
})

export type Recording = Readonly<z.infer<typeof recording>>
