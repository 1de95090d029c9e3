import { z } from 'zod'
import { monthlyRent, planOf } from '../../domain/access/plans.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { price } from '../../domain/money/money.ts'
import { NUMBER_QUERY } from '../../domain/shared/limits.ts'
import { nationalFormat, numberType } from '../../domain/supply/number.ts'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import { wholeNumber } from '../../kernel/wire.ts'
import { quoteToken } from '../number-quotes.ts'
import { orUpstreamError } from './carrier-errors.ts'
import { defineWriteRoute, type Write } from './write-route.ts'

/** Digits, as a text or as a number. */
const digits = (max: number, pattern: RegExp, error: string) =>
  z.union([z.string(), z.int().min(0).transform(String)], { error }).pipe(
    z
      .string()
      .min(1, { error })
      .max(max, { error: `must be at most ${max} characters` })
      .regex(pattern, { error }),
  )

const place = z.string().trim().min(1).max(NUMBER_QUERY.place)
const feature = z.enum(['voice', 'sms', 'mms', 'fax', 'emergency', 'hd_voice', 'international_sms', 'local_calling'])

/** A field that may be left out: null then. */
const maybe = <Value>(schema: z.ZodType<Value>) => schema.optional().transform((value) => value ?? null)

/** What numbers are looked for (Document 1, "search available numbers"). */
const sent = z.object({
  countryCode: z
    .string()
    .regex(/^[A-Za-z]{2}$/, { error: 'must be two letters' })
    .toUpperCase()
    .default('US'),
  areaCode: maybe(digits(NUMBER_QUERY.areaCode, /^\d+$/, 'must be 1 to 8 digits')),
  state: maybe(place),
  locality: maybe(place),
  rateCenter: maybe(place),
  contains: maybe(digits(NUMBER_QUERY.contains, /^[\d*]+$/, 'must be digits, with * for any digit')),
  startsWith: maybe(digits(NUMBER_QUERY.startsWith, /^\+?\d+$/, 'must be digits, with + before them if you like')),
  endsWith: maybe(digits(NUMBER_QUERY.endsWith, /^\d+$/, 'must be digits')),
  numberType: maybe(numberType),
  features: z.union([feature.transform((one) => [one]), z.array(feature).max(NUMBER_QUERY.features)]).default([]),
  limit: wholeNumber(NUMBER_QUERY.limit).default(NUMBER_QUERY.limit.default),
  bestEffort: z.boolean().default(false),
  quickship: z.boolean().default(false),
  reservable: z.boolean().default(false),
  excludeHeldNumbers: z.boolean().default(false),
})

const tariff = z.object({ setupCents: price, monthlyCents: price })
const result = tariff
  .extend({
    e164: z.string(),
    formatted: z.string(),
    type: numberType,
    countryCode: z.string(),
    region: z.string().nullable(),
    locality: z.string().nullable(),
    capabilities: z.object({ voice: z.boolean(), sms: z.boolean(), mms: z.boolean() }),
    quoteToken: z.string(),
  })
  .meta({ id: 'AvailableNumber' })

/** Asks the carrier; writes nothing and holds nothing. Each number found comes with the token that it can be bought with. */
export const searchNumbers: Write = defineWriteRoute({
  name: 'search-numbers',
  summary: 'Search available numbers',
  method: 'POST',
  allowLapsed: true,
  mounts: [{ surface: 'console', path: '/api/tracking/numbers/search' }],
  body: sent,
  responses: {
    200: z.object({
      results: z.array(result),
      price: tariff,
      meta: z.object({ total: z.int(), bestEffort: z.boolean() }),
    }),
  },
  rejects: ['upstream-error', 'ordering-not-configured', 'workspace-not-found'],
  async run({ body, tools, tenant: { workspaceId }, principal: { actor }, now }) {
    const { numbers } = tools.carrier()
    if (numbers === null) return refuse('ordering-not-configured')
    const { workspace: record } = await tools.writer.stateOf(workspace, workspaceId)
    if (record === null) return refuse('workspace-not-found')
    const { planId } = record
    const { setupCents } = planOf(planId)
    const offer = await orUpstreamError(() => numbers.search(body))
    if (isRefusal(offer)) return offer
    const results = offer.results.map(({ e164, type, countryCode, region, locality, capabilities }) => {
      const prices = { setupCents, monthlyCents: monthlyRent(planId, type) }
      const place = { region, locality }
      const terms = { e164, type, ...place, ...prices, userId: actor.id, workspaceId }
      const shown = { e164, formatted: nationalFormat(e164), type, countryCode, ...place, capabilities }
      return { ...shown, quoteToken: quoteToken(tools.secrets, terms, now), ...prices }
    })
    const { total, bestEffort } = offer
    const price = { setupCents, monthlyCents: monthlyRent(planId, body.numberType ?? 'local') }
    return { status: 200, body: { results, price, meta: { total, bestEffort } } }
  },
})
