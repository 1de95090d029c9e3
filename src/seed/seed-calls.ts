import { createRandom, weightedOrder } from '../domain/routing/random.ts'
import { localMidnight } from '../domain/shared/hours.ts'
import type { ScriptedDial } from '../ports/call-script.ts'
import { BLOCKED_CALLER, type CampaignKey } from './seed-world.ts'

/** The wall clock of the sandbox workspace. */
export const TIMEZONE = 'America/New_York'
/** No call of the seed is younger than this, so that all have ended and settled (ms). */
const QUIET_MS = 3_600_000
const SEED = 20_261_121

/** A call of the seed, as it is played. */
export interface SeedCall {
  readonly campaign: CampaignKey
  readonly from?: string | null
  readonly script?: Readonly<Record<string, readonly ScriptedDial[]>>
  readonly callerHangsUpAfterSeconds?: number
}

/** How many calls each campaign gets; a call to the single line is two callers at once. */
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
/** What befalls a dial of the front desk, up to this share; otherwise it answers. */
const FATES: readonly (readonly [number, ScriptedDial])[] = [
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
    const fate = random()
    const first = FATES.find(([share]) => fate < share)?.[1] ?? answer
    const second: ScriptedDial = fate < 0.05 ? { result: 'rejected' } : answer
    const gaveUp = random() < 0.05 ? { callerHangsUpAfterSeconds: 1 } : {}
    return { campaign, from: callerOf(campaign, n), script: { [DESK]: [first], [OVERFLOW]: [second] }, ...gaveUp }
  })
}

/** The calls of the seven days up to an instant (ms), oldest first, each with its own: always the same calls. */
export function seedCalls(now: number): readonly (SeedCall & { readonly at: string })[] {
  const calls = callsFrom(createRandom(SEED))
  const start = localMidnight(TIMEZONE, now, 6)
  const every = (now - QUIET_MS - start) / calls.length
  return calls.map((call, n) => ({ ...call, at: new Date(start + Math.round(every * n)).toISOString() }))
}
