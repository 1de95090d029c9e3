import { createRandom, weightedOrder } from '../domain/routing/random.ts'
import { localMidnight, localTime } from '../domain/shared/hours.ts'
import type { ScriptedDial } from '../ports/call-script.ts'
import { BLOCKED_CALLER, type CampaignKey } from './seed-world.ts'

/** Time zone of the sandbox workspace. */
export const TIMEZONE = 'America/New_York'
/** Minimum age of a seed call (ms), so that all calls have ended and settled. */
const QUIET_MS = 3_600_000
const SEED = 20_261_121

/** The workspace of the seed, and whether an earlier start may have played a part of it. */
export interface SeededWorkspace {
  readonly workspaceId: string
  readonly isResumed: boolean
}

/** A seed call: the campaign to call, and fields of the sandbox request (`sandboxCall`). */
export interface SeedCall {
  readonly campaign: CampaignKey
  readonly from?: string | null
  readonly script?: Readonly<Record<string, readonly ScriptedDial[]>>
  readonly callerHangsUpAfterSeconds?: number
}

/** Number of calls per campaign. A call to `busy` is played as two simultaneous calls. */
const MIX: readonly (readonly [CampaignKey, number])[] = [
  ['waterfall', 52],
  ['weighted', 46],
  ['skips', 24],
  ['busy', 8],
  ['strict', 12],
  ['shut', 5],
  ['capped', 20],
  ['once', 12],
  ['resting', 5],
  ['blind', 4],
  ['hollow', 4],
]
const AREA_CODES = ['212', '213', '214', '305', '312', '404', '415', '512', '617', '702', '713', '206']
/** Outcomes of dials to the front desk, by cumulative share; the rest answer. */
const OUTCOMES: readonly (readonly [number, ScriptedDial])[] = [
  [0.12, { result: 'busy' }],
  [0.2, { result: 'no_answer' }],
  [0.25, { result: 'unavailable' }],
]
const DESK = '+13125550101'
const OVERFLOW = 'sip:overflow@acme.example'

function callsFrom(random: () => number): readonly SeedCall[] {
  const campaigns = weightedOrder(
    MIX.flatMap(([campaign, count]) => Array.from({ length: count }, () => ({ campaign, weight: 1 }))),
    random,
  )
  const caller = (numbers: number) => {
    const area = AREA_CODES[Math.floor(random() * AREA_CODES.length)]
    return `+1${area}555${String(Math.floor(random() * numbers) + 100).padStart(4, '0')}`
  }
  const callerOf = (campaign: CampaignKey, n: number) => {
    if (campaign === 'once') return `+1${AREA_CODES[n % 4]}5550150`
    if (campaign === 'strict' && n % 3 === 0) return null
    return n % 29 === 0 ? BLOCKED_CALLER : caller(90)
  }
  return campaigns.map(({ campaign }, n): SeedCall => {
    const answer: ScriptedDial = {
      result: 'answer',
      afterSeconds: 2 + Math.floor(random() * 12),
      talkSeconds: Math.floor(10 + random() * 400),
      hungUpBy: random() < 0.4 ? 'buyer' : 'caller',
    }
    const roll = random()
    const first = OUTCOMES.find(([share]) => roll < share)?.[1] ?? answer
    const second: ScriptedDial = roll < 0.05 ? { result: 'rejected' } : answer
    const hangUp = random() < 0.05 ? { callerHangsUpAfterSeconds: 1 } : {}
    return { campaign, from: callerOf(campaign, n), script: { [DESK]: [first], [OVERFLOW]: [second] }, ...hangUp }
  })
}

/** Evenly spaced instants (ms) in the seven days before an instant. */
export function seedInstants(now: number, count: number): readonly number[] {
  const start = localMidnight(TIMEZONE, now, 6)
  const every = (now - QUIET_MS - start) / count
  return Array.from({ length: count }, (_, n) => start + Math.round(every * n))
}

/** What is played, by the day of its instant (ms) in the sandbox's time zone: caps end with the day. */
export function seedDays<Item>(items: readonly Item[], msOf: (item: Item) => number): Iterable<readonly Item[]> {
  return Map.groupBy(items, (item) => localTime(TIMEZONE, msOf(item)).slice(0, 10)).values()
}

/** The calls of the seven days before an instant (ms), oldest first, with their arrivals (ISO). Deterministic. */
export function seedCalls(now: number): readonly (SeedCall & { readonly at: string })[] {
  const calls = callsFrom(createRandom(SEED))
  const instants = seedInstants(now, calls.length)
  return calls.map((call, n) => ({ ...call, at: new Date(instants[n] ?? now).toISOString() }))
}
