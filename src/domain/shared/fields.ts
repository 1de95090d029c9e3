import { z } from 'zod'
import { id } from '../../kernel/wire.ts'
import { TEXT } from './limits.ts'
import { canonicalZone } from './zones.ts'

/** A phone number in E.164: plus sign, country code, digits. */
export const e164 = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, { error: 'must be a phone number in E.164 format, for example +13105550100' })
/** A time zone's name, in its canonical spelling. `zones.ts` checks that it exists, because records differ in the refusal. */
export const timezone = z.string().min(1).max(TEXT.zone).overwrite(canonicalZone)
/** SHA-256, hexadecimal. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
export const statusNote = z.string().max(TEXT.statusNote)

/** Free text of at most `max` characters, or null. */
export const nullableText = (max: number) => z.string().max(max).nullable()
/** A name, trimmed. */
export const nameSchema = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z.string().trim().min(min).max(max)

/** Who performed an action, as the activity log shows it. */
export const actor = z
  .object({
    type: z.enum(['key', 'user', 'publisher', 'operator', 'carrier', 'system']),
    id: z.string().nullable(),
    name: z.string(),
  })
  .meta({ id: 'Actor' })

/** A record as frozen on a call: its id and the name that it had. */
export const named = z.object({ id, name: z.string() }).meta({ id: 'NamedReference' })

export type Named = Readonly<z.infer<typeof named>>
