import { z } from 'zod'

// Formats of values in bodies, paths and query strings (Document 1, "Shared conventions"; Supplement §1).

/** A UUID of any version or none, in any case; read as lower case. */
export const id = z.guid({ error: 'must be a UUID' }).toLowerCase()

/** An instant in responses and storage: ISO 8601, UTC, milliseconds. */
export const instant = z.iso.datetime({ precision: 3, error: 'must be an ISO 8601 instant in UTC with milliseconds' })

function rangeMessage(thing: string, min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return `must be ${thing} from ${min} to ${max}`
  if (min !== undefined) return `must be ${thing} of at least ${min}`
  return max === undefined ? `must be ${thing}` : `must be ${thing} of at most ${max}`
}

interface Range {
  readonly min?: number
  readonly max?: number
}

/** A whole number in a body: no float, no numeric string, nothing past 2^53. */
export function wholeNumber({ min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }: Range = {}) {
  const error = rangeMessage(
    'a whole number',
    min === Number.MIN_SAFE_INTEGER ? undefined : min,
    max === Number.MAX_SAFE_INTEGER ? undefined : max,
  )
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** Money: whole cents, of either sign unless a range says otherwise. */
export const cents = wholeNumber()

/** A cap or a count in a body: 0 to `max`; 0 means unlimited on every cap. */
export function cap(max: number) {
  return wholeNumber({ min: 0, max })
}

/** A whole number in a query string: plain decimal digits. */
export function queryInteger({ min, max }: Range = {}) {
  const error = rangeMessage('a whole number', min, max)
  return z
    .string({ error })
    .regex(/^(0|-?[1-9]\d*)$/, { error })
    .transform(Number)
    .pipe(
      z
        .int({ error })
        .min(min ?? Number.MIN_SAFE_INTEGER, { error })
        .max(max ?? Number.MAX_SAFE_INTEGER, { error }),
    )
    .meta({ type: 'integer', pattern: undefined, minimum: min, maximum: max })
}

/** A yes or no in a query string: `true` or `false`. */
export const queryBoolean = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', enum: undefined })

/** ISO 8601 in its extended and its basic format: a date, or a date and time (seconds may be left out) with an offset. */
const ISO_DATE = /^(\d{4})-?(\d{2})-?(\d{2})$/
const ISO_TIME =
  /^([01]\d|2[0-3]):?([0-5]\d)(?::?([0-5]\d)(?:[.,](\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)$/i
const realDate = z.iso.date()

/** An instant in ISO 8601 as UTC with milliseconds; null for any other text. A bare date is its midnight in UTC. */
function parseInstant(text: string): string | null {
  const [day = '', time, ...rest] = text.split(/[Tt]/)
  const [, year, month, date] = ISO_DATE.exec(day) ?? []
  if (rest.length > 0 || !realDate.safeParse(`${year}-${month}-${date}`).success) return null
  if (time === undefined) return `${year}-${month}-${date}T00:00:00.000Z`
  const parts = ISO_TIME.exec(time)
  if (!parts) return null
  const [, hours, minutes, seconds = '00', fraction = '', sign = '+', offsetHours = '00', offsetMinutes = '00'] = parts
  const millis = fraction.padEnd(3, '0').slice(0, 3)
  const iso = `${year}-${month}-${date}T${hours}:${minutes}:${seconds}.${millis}${sign}${offsetHours}:${offsetMinutes}`
  const utc = new Date(iso).toISOString()
  // Beyond the years 0000 to 9999, which an offset can cross, an instant has another form.
  return /^\d/.test(utc) ? utc : null
}

/** An instant in a query string; a bare date is its midnight in UTC. Read as ISO 8601, UTC, milliseconds. */
export const queryInstant = z
  .string()
  .transform((text, { addIssue }) => {
    const parsed = parseInstant(text)
    if (parsed === null) addIssue('must be an ISO 8601 instant or a date')
    return parsed ?? z.NEVER
  })
  .meta({ type: 'string' })

/** One of the values, or the default when there is none or it is unknown (Document 1, shared convention 4). */
function enumOrDefault<const Values extends readonly [string, ...string[]]>(values: Values, fallback: Values[number]) {
  return z
    .string()
    .optional()
    .transform((text) => values.find((value) => value === text) ?? fallback)
    .meta({ enum: [...values], default: fallback })
}

/** The `sort` of a list: an unknown value falls back. */
export const sortBy = enumOrDefault

/** The directions of an order. */
export const sortDirections = ['asc', 'desc'] as const

/** The `dir` of a list: `desc` unless it says `asc`. */
export const sortDirection = enumOrDefault(sortDirections, 'desc')

const pageError = rangeMessage('a whole number', 1, undefined)

/** A `page` or `pageSize` in a query string, of any size; clamped where numbers lose precision. */
const pageNumber = z
  .string({ error: pageError })
  .regex(/^[1-9]\d*$/, { error: pageError })
  .transform((text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER))
  .meta({ type: 'integer', pattern: undefined, minimum: 1 })

/** `page` and `pageSize` of a list, to be spread into its query: below 1 is refused, past the largest is clamped. */
export function pageQuery({ defaultSize, maxSize }: { readonly defaultSize: number; readonly maxSize: number }) {
  return {
    page: pageNumber
      .optional()
      .transform((page) => page ?? 1)
      .meta({ default: 1 }),
    pageSize: pageNumber
      .optional()
      .transform((wanted) => Math.min(wanted ?? defaultSize, maxSize))
      .meta({ default: defaultSize }),
  }
}

/** Number of rows before a page. */
export function skipOf({ page, pageSize }: { readonly page: number; readonly pageSize: number }): number {
  return Math.min((page - 1) * pageSize, Number.MAX_SAFE_INTEGER)
}

/** The response of a paged list; `nextCursor` is null after the last row. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    data: z.array(row),
    page: z.int(),
    pageSize: z.int(),
    total: z.int(),
    totalPages: z.int(),
    nextCursor: z.string().nullable(),
  })
}

/** Number of pages that the rows fill; 0 for no rows. */
export function totalPages(total: number, pageSize: number): number {
  return Math.ceil(total / pageSize)
}
