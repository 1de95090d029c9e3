import { z } from 'zod'
import { type CallRecord, reverseDigits } from '../../src/domain/calls/call-record.ts'
import { isTagKey, storedTag } from '../../src/domain/calls/tags.ts'
import { callOutcome, callStatus, unroutedReason } from '../../src/domain/shared/call-codes.ts'
import { e164 } from '../../src/domain/shared/fields.ts'
import { localMidnight } from '../../src/domain/shared/hours.ts'
import { CALL_LOG, TAG, TEXT } from '../../src/domain/shared/limits.ts'
import { canonicalZone, zoneOrUtc, zoneProblem } from '../../src/domain/shared/zones.ts'
import type { QueryContext } from '../../src/kernel/query.ts'
import { type Refusal, refuse } from '../../src/kernel/refusal.ts'
import { id, queryBoolean, queryInstant, queryInteger } from '../../src/kernel/wire.ts'
import type { Conditions, Filter } from '../../src/ports/read-store.ts'

const DAY_MS = 86_400_000

const talk = queryInteger({ min: 0, max: CALL_LOG.talkSeconds })

/** The filters of the call log, to be spread into a query (Document 2, list calls). */
export const callFilters = {
  from: queryInstant.optional(),
  to: queryInstant.optional(),
  tz: z.string().max(TEXT.zone).overwrite(canonicalZone).optional(),
  campaignId: id.optional(),
  publisherId: id.optional(),
  buyerId: id.optional(),
  targetId: id.optional(),
  numberId: id.optional(),
  ref: z
    .string()
    .toUpperCase()
    .regex(/^CA-\d{10}$/, { error: 'must be the reference of a call, for example CA-0000000001' })
    .optional(),
  status: callStatus.optional(),
  outcome: callOutcome.optional(),
  minTalk: talk.optional(),
  maxTalk: talk.optional(),
  caller: z.string().max(CALL_LOG.caller.max).optional(),
  tagKey: z.string().optional(),
  tagValue: z.string().max(TAG.value).optional(),
  reason: z.string().meta({ enum: unroutedReason.options }).optional(),
  hasRecording: queryBoolean.optional(),
}

const callQuery = z.object(callFilters)
type CallQuery = Readonly<z.infer<typeof callQuery>>

/** Rules of the filters beyond their types; each returns a sentence, or null when the filter is valid. */
const RULES: Readonly<{ [Field in keyof CallQuery]?: (query: CallQuery) => string | null }> = {
  tz: ({ tz }) => (tz === undefined ? null : zoneProblem(tz)),
  minTalk: ({ minTalk, maxTalk }) =>
    minTalk !== undefined && maxTalk !== undefined && minTalk > maxTalk ? 'must not be above maxTalk' : null,
  caller: ({ caller }) =>
    caller !== undefined && reverseDigits(caller).length < CALL_LOG.caller.minDigits
      ? `must hold at least ${CALL_LOG.caller.minDigits} digits`
      : null,
  tagKey: ({ tagKey }) => (tagKey === undefined || isTagKey(tagKey) ? null : 'is not a tag key'),
  tagValue: ({ tagKey, tagValue }) => (tagValue !== undefined && tagKey === undefined ? 'needs tagKey' : null),
  reason: ({ reason }) =>
    reason === undefined || unroutedReason.safeParse(reason).success
      ? null
      : `must be one of: ${unroutedReason.options.join(', ')}`,
}

function queryProblems(query: CallQuery): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(RULES).flatMap(([field, problem]) => {
      const sentence = problem(query)
      return sentence === null ? [] : [[field, sentence]]
    }),
  )
}

/** The queried window in ms: by default from midnight six days ago to now. */
function callWindow({ from, to }: CallQuery, timezone: string, now: string) {
  const nowMs = Date.parse(now)
  return {
    fromMs: from === undefined ? localMidnight(timezone, nowMs, CALL_LOG.defaultDaysBack) : Date.parse(from),
    toMs: to === undefined ? nowMs : Date.parse(to),
  }
}

function windowProblem(fromMs: number, toMs: number): string | null {
  if (fromMs > toMs) return 'must not be after to'
  return toMs - fromMs > CALL_LOG.windowDays * DAY_MS ? `must be at most ${CALL_LOG.windowDays} days before to` : null
}

/** A full number matches that caller alone (ten digits: with or without the country code 1); fewer digits match the end of a number. */
function callerCondition(caller: string): Filter[string] {
  const reversed = reverseDigits(caller)
  const full = caller.trim().startsWith('+') && e164.safeParse(`+${caller.replace(/\D/g, '')}`).success
  if (full || reversed.length > 10) return reversed
  if (reversed.length === 10) return { $in: [reversed, `${reversed}1`] }
  // `:` is the character after `9`: the end of the range of this prefix.
  return { $gte: reversed, $lt: `${reversed}:` }
}

function rangeCondition(least: number | undefined, most: number | undefined): Conditions | undefined {
  if (least === undefined && most === undefined) return undefined
  return { ...(least !== undefined && { $gte: least }), ...(most !== undefined && { $lte: most }) }
}

function tagCondition(key: string | undefined, value: string | undefined): Filter {
  return key === undefined ? {} : { [`tags.${storedTag(key)}`]: value ?? { $ne: null } }
}

/** Conditions on fields of the call log. */
type CallFields = { readonly [Path in keyof CallRecord | `${string}.id`]?: Filter[string] }

function fieldConditions(query: CallQuery): CallFields {
  const { campaignId, publisherId, buyerId, targetId, numberId, ref, status } = query
  const { outcome, caller, reason, hasRecording } = query
  return {
    'campaign.id': campaignId,
    'publisher.id': publisherId,
    'buyer.id': buyerId,
    'target.id': targetId,
    numberId,
    ref,
    status,
    outcome: outcome === 'connected' ? { $in: ['connected', 'converted'] } : outcome,
    talkSeconds: rangeCondition(query.minTalk, query.maxTalk),
    callerReversed: caller === undefined ? undefined : callerCondition(caller),
    reasonCode: reason,
    hasRecording,
  }
}

/** The filter of a query, with its window and time zone. */
export interface CallSelection {
  readonly filter: Filter
  readonly from: string
  readonly to: string
  readonly timezone: string
}

/** The calls that a query selects; a refusal that names each invalid field. */
export function selectCalls({
  query,
  tenant,
  now,
}: Pick<QueryContext<unknown, CallQuery>, 'query' | 'tenant' | 'now'>): CallSelection | Refusal<'bad-request'> {
  const problems = queryProblems(query)
  if (problems.tz !== undefined) return refuse('bad-request', problems)
  const timezone = query.tz ?? zoneOrUtc(tenant.timezone)
  const { fromMs, toMs } = callWindow(query, timezone, now)
  const problem = windowProblem(fromMs, toMs)
  const all = problem === null ? problems : { ...problems, from: problem }
  if (Object.keys(all).length > 0) return refuse('bad-request', all)
  return {
    filter: {
      workspaceId: tenant.workspaceId,
      startedMs: { $gte: fromMs, $lt: toMs },
      ...fieldConditions(query),
      ...tagCondition(query.tagKey, query.tagValue),
    },
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    timezone,
  }
}
