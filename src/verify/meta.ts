import { z } from 'zod'
import { instant } from '../kernel/wire.ts'

/** `Meta` of an event as stored. */
export const meta = z.object({
  eventId: z.string().min(1),
  workspaceId: z.string().min(1).nullable(),
  at: instant,
  actor: z.object({
    type: z.enum(['key', 'user', 'publisher', 'operator', 'carrier', 'system']),
    id: z.string().nullable(),
    name: z.string(),
  }),
  commandId: z.string(),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  surface: z.string(),
  ip: z.string().nullable(),
  reads: z.record(z.string(), z.int()).optional(),
  recalled: z.record(z.string(), z.unknown()).optional(),
})
