import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { cap, id, instant, wholeNumber } from '../../kernel/wire.ts'
import { payoutProblems, payoutTerms } from '../money/payout-terms.ts'
import { e164, named, nameSchema, nullableText, statusNote, timezone } from '../shared/fields.ts'
import { CALL_CAP, CAMPAIGN, NAME, SECONDS } from '../shared/limits.ts'
import { applyPatch } from '../shared/patch.ts'
import { type Problem, problemsOf } from '../shared/problems.ts'
import { patchSchedule, schedule, scheduleInput, scheduleProblem } from '../shared/schedule.ts'
import { createRecordUpdate, type SliceOf } from '../shared/slice.ts'
import { normalizeStates, states, statesProblem } from '../shared/states.ts'
import { zoneOrUtc, zoneProblem } from '../shared/zones.ts'
import { verticalId } from './vertical.ts'

export const campaignStatus = z.enum(['draft', 'live', 'paused', 'restricted', 'archived'])
export type CampaignStatus = z.infer<typeof campaignStatus>

/** A campaign where another record refers to it. */
export const campaignReference = named.extend({ status: campaignStatus }).meta({ id: 'CampaignReference' })

export const routingMode = z.enum(['priority', 'weighted', 'highest_bid'])

/** The settings of a campaign (Document 1, Campaign; `payout` and `discloseCallerId` by Supplement §4 and §5). */
export const campaignSettings = z.object({
  name: nameSchema(NAME.campaign),
  description: nullableText(CAMPAIGN.description),
  routingMode,
  recordCalls: z.boolean(),
  repeatCallerPolicy: z.enum(['allow', 'block', 'same_target']),
  anonymousPolicy: z.enum(['allow', 'block']),
  unroutedAction: z.enum(['hangup', 'message', 'forward']),
  unroutedMessage: nullableText(CAMPAIGN.unroutedMessage),
  unroutedForwardE164: e164.nullable(),
  bufferSeconds: cap(SECONDS.buffer),
  dialTimeoutSeconds: wholeNumber(SECONDS.dialTimeout),
  failoverBudgetSeconds: wholeNumber(SECONDS.failoverBudget),
  dedupeWindowSeconds: cap(SECONDS.dedupe),
  dailyCap: cap(CALL_CAP.daily),
  concurrencyCap: cap(CALL_CAP.concurrency),
  hoursSchedule: schedule.nullable(),
  timezone,
  states,
  payout: payoutTerms,
  discloseCallerId: z.boolean(),
})
export type CampaignSettings = Readonly<z.infer<typeof campaignSettings>>
export const campaignChanges = campaignSettings.partial()

/** Settings in a request: any of them; the payout in part. */
export const campaignInput = campaignSettings
  .extend({ hoursSchedule: scheduleInput.nullable(), payout: payoutTerms.partial() })
  .partial()
export type CampaignInput = Readonly<z.infer<typeof campaignInput>>

export const campaign = campaignSettings.extend({
  id,
  kind: z.literal('tracking'),
  status: campaignStatus,
  statusNote: statusNote.nullable(),
  verticalId,
  routingKeyPrefix: z.string(),
  publishedAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
})
export type Campaign = Readonly<z.infer<typeof campaign>>

/** These names are the storage format. */
export const campaignEvents = {
  CampaignCreated: z.object({ campaign }),
  CampaignChanged: z.object({ campaignId: id, name: z.string(), before: campaignChanges, after: campaignChanges }),
  CampaignStatusChanged: z.object({
    campaignId: id,
    name: z.string(),
    from: campaignStatus,
    to: campaignStatus,
    note: statusNote.nullable(),
  }),
}

export interface Campaigns {
  readonly campaigns: PersistentMap<string, Campaign>
}

/** A campaign after a transition. Going live clears the note, and the first time sets `publishedAt`. */
export function withCampaignStatus<C extends Pick<Campaign, 'status' | 'statusNote' | 'publishedAt' | 'updatedAt'>>(
  campaign: C,
  to: CampaignStatus,
  note: string | null,
  at: string,
): C {
  const live = to === 'live'
  return {
    ...campaign,
    status: to,
    statusNote: live ? null : note,
    publishedAt: campaign.publishedAt ?? (live ? at : null),
    updatedAt: at,
  }
}

const updateCampaign = createRecordUpdate<Campaign, 'campaigns'>('campaigns')

export const evolveCampaigns: SliceOf<Campaigns, typeof campaignEvents> = {
  CampaignCreated: (state, { data }) => ({ ...state, campaigns: state.campaigns.set(data.campaign.id, data.campaign) }),
  CampaignChanged: (state, { data, meta }) =>
    updateCampaign(state, data.campaignId, (old) => applyPatch({ ...old, updatedAt: meta.at }, data.after)),
  CampaignStatusChanged: (state, { data, meta }) =>
    updateCampaign(state, data.campaignId, (old) => withCampaignStatus(old, data.to, data.note, meta.at)),
}

/** The settings of a new campaign (Supplement §5), in the workspace's time zone. */
export function defaultCampaign(name: string, zone: string): CampaignSettings {
  return {
    name,
    description: null,
    routingMode: 'priority',
    recordCalls: true,
    repeatCallerPolicy: 'allow',
    anonymousPolicy: 'allow',
    unroutedAction: 'hangup',
    unroutedMessage: null,
    unroutedForwardE164: null,
    bufferSeconds: 0,
    dialTimeoutSeconds: SECONDS.dialTimeout.default,
    failoverBudgetSeconds: SECONDS.failoverBudget.default,
    dedupeWindowSeconds: 0,
    dailyCap: 0,
    concurrencyCap: 0,
    hoursSchedule: null,
    timezone: zoneOrUtc(zone),
    states: [],
    payout: { mode: 'revshare', payoutCents: null, revsharePct: 0, minPayoutCents: null, maxPayoutCents: null },
    discloseCallerId: false,
  }
}

/** The settings after a request. The campaign and its schedule share one time zone, whichever of the two was sent. */
export function applyCampaignInput(
  settings: CampaignSettings,
  { hoursSchedule, payout, ...input }: CampaignInput,
): CampaignSettings {
  const next = applyPatch(settings, {
    ...input,
    states: input.states && normalizeStates(input.states),
    payout: payout && applyPatch(settings.payout, payout),
  })
  const zones = { input: input.timezone, record: next.timezone }
  const schedule = patchSchedule(settings.hoursSchedule, hoursSchedule, zones)
  return { ...next, timezone: (hoursSchedule && schedule?.tz) || next.timezone, hoursSchedule: schedule }
}

/** What is wrong with a campaign after a request, across its fields, and with the request; null when it is valid. */
export function campaignProblems(
  { unroutedAction, unroutedMessage, unroutedForwardE164, ...settings }: CampaignSettings,
  input: CampaignInput,
): Readonly<Record<string, string>> | null {
  const rules: readonly Problem[] = [
    [
      'unroutedMessage',
      unroutedAction === 'message' && !unroutedMessage?.trim() ? 'Required when unroutedAction is message.' : null,
    ],
    [
      'unroutedForwardE164',
      unroutedAction === 'forward' && !unroutedForwardE164 ? 'Required when unroutedAction is forward.' : null,
    ],
    [
      'failoverBudgetSeconds',
      settings.failoverBudgetSeconds < settings.dialTimeoutSeconds ? 'Must be at least dialTimeoutSeconds.' : null,
    ],
    ['timezone', input.timezone === undefined ? null : zoneProblem(input.timezone)],
    ['hoursSchedule', input.hoursSchedule ? scheduleProblem(input.hoursSchedule) : null],
    ['states', statesProblem(settings.states)],
    ...Object.entries(payoutProblems(settings.payout.mode, settings.payout)).map(
      ([field, problem]): Problem => [`payout.${field}`, problem],
    ),
  ]
  return problemsOf(rules)
}

/** Number of campaigns that count against the plan's limit. */
export function campaignCount({ campaigns }: Campaigns): number {
  return campaigns.count(({ status }) => status !== 'archived')
}
