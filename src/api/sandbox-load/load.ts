import { z } from 'zod'
import { SANDBOX_LOAD } from '../../domain/shared/limits.ts'
import { id, instant, wholeNumber } from '../../kernel/wire.ts'

const SHARE = 'must be a number from 0 to 1'
const share = z.number({ error: SHARE }).min(0, { error: SHARE }).max(1, { error: SHARE }).default(0)

/** Request body: the load to play (Supplement §11). */
export const sandboxLoad = z.object({
  /** Attempts in all. */
  calls: wholeNumber(SANDBOX_LOAD.calls),
  perSecond: wholeNumber(SANDBOX_LOAD.perSecond),
  /** Ids; without them, every live publisher of the workspace. */
  publishers: z.array(id).min(1).max(SANDBOX_LOAD.publishers).optional(),
  mix: z
    .object({
      /** Share of the attempts that begin with a ping. */
      ping: share,
      /** Share of the won pings that are posted. */
      post: share,
      /** Share of the won pings after which no call comes. */
      ghost: share,
    })
    .prefault({}),
})
export type SandboxLoad = Readonly<z.infer<typeof sandboxLoad>>

/** How far a load has come. */
export const loadProgress = z.object({
  state: z.enum(['running', 'done', 'failed']),
  /** Calls that were placed. */
  placed: z.int(),
  /** Pings that were answered. */
  pings: z.int(),
  won: z.int(),
  /** Posts that were accepted. */
  posted: z.int(),
  /** Attempts that an error or a refusal ended. */
  failed: z.int(),
  /** The pace that was asked for. */
  perSecond: z.int(),
  startedAt: instant,
  endedAt: instant.nullable(),
})
export type LoadProgress = Readonly<z.infer<typeof loadProgress>>
export type LoadCounts = Record<'placed' | 'pings' | 'won' | 'posted' | 'failed', number>
