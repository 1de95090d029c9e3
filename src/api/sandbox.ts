import { z } from 'zod'
import { failOver } from '../../commands/routing/fail-over.ts'
import { routeCall } from '../../commands/routing/route-call.ts'
import type { Bid } from '../domain/bidding/bid.ts'
import { type CallState, call } from '../domain/calls/call.ts'
import { type WorkspaceState, workspace } from '../domain/configuration/workspace.ts'
import { type BidQuestion, bidsAnsweredAt, bidsField } from '../domain/routing/bids.ts'
import type { Claim } from '../domain/routing/decision.ts'
import { ledgerEvents } from '../domain/routing/ledger-events.ts'
import { routingKeyIn } from '../domain/routing/sender.ts'
import { e164 } from '../domain/shared/fields.ts'
import { SECONDS } from '../domain/shared/limits.ts'
import { isDelivering } from '../domain/supply/number.ts'
import type { EventOf, NewEvent } from '../kernel/event.ts'
import { addMs } from '../kernel/instant.ts'
import { isRefusal, type Refusal, refuse } from '../kernel/refusal.ts'
import { id, queryInstant, wholeNumber } from '../kernel/wire.ts'
import type { ApiRequest, ApiRoute } from '../ports/api.ts'
import {
  type DialInput,
  type DialResult,
  dialResultOf,
  entryFor,
  STAYS_SECONDS,
  script,
  scriptKeyOf,
  TALK_SECONDS,
} from '../ports/call-script.ts'
import type { Clock } from '../ports/clock.ts'
import type { CommandContext } from '../ports/command-handler.ts'
import type { Random } from '../ports/random.ts'
import type { PlacedCall, Simulator } from '../ports/simulated-carrier.ts'
import { type AskBidders, decideWithBids } from '../reactions/ask-bidders.ts'
import type { LeaseOfCall } from '../reactions/call-leases.ts'
import type { Offers } from '../reactions/offers.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'
import { noParams } from './no-params.ts'
import type { ReadYourWrites } from './read-your-writes.ts'
import { scriptKeyProblems } from './script-keys.ts'
import { secretHash } from './secret-hash.ts'

const MAX_HANG_UP_SECONDS = 14_400

/** Request body: the call to play (Supplement §11). */
export const sandboxCall = z.object({
  to: e164,
  /** Null hides the caller; when absent, a fictional caller is chosen. */
  from: e164.nullable().optional(),
  at: queryInstant.optional(),
  mode: z.enum(['instant', 'live']).default('live'),
  callerHangsUpAfterSeconds: z.number().min(0).max(MAX_HANG_UP_SECONDS).optional(),
  sipHeaders: z.record(z.string().max(128), z.string().max(1_000)).default({}),
  script: script.default({}),
  speed: wholeNumber({ min: 1, max: 1_000 }).default(1),
})
export type SandboxCall = z.infer<typeof sandboxCall>

const playedCall = z.object({ callId: id, ref: z.string(), carrierCallId: z.string() })

/** Dependencies of the sandbox. */
export interface SandboxPorts {
  readonly writer: StreamWriter
  readonly simulator: Simulator
  readonly askBidders: AskBidders
  readonly offers: Pick<Offers, 'offerFor'>
  readonly leaseOf: LeaseOfCall
  readonly clock: Clock
  readonly random: Random
  /** Waits until the projections have read the newest events of these types. */
  readonly awaitProjections: (types: readonly string[]) => Promise<ReadYourWrites>
}

type LedgerEvent = EventOf<typeof ledgerEvents>

const isLedger = (event: NewEvent): event is LedgerEvent => event.type in ledgerEvents

/** Event types that decide the next step of a dry run. */
const STEPS: ReadonlySet<string> = new Set<LedgerEvent['type']>([
  'CallAdmitted',
  'CallRefused',
  'TargetClaimed',
  'PlanSpent',
])

const failureOf = ({ outcome, sipCode, retryAfterSeconds }: Extract<DialResult, { readonly answered: false }>) => ({
  outcome,
  sipCode,
  retryAfterSeconds,
})

/** The dial or the unrouted action that an event decided, and when; null for any other event. */
function stepOf(event: NewEvent | undefined) {
  if (!event || !isLedger(event)) return null
  if (event.type === 'CallAdmitted') {
    const { claim, unrouted, bids = [], arrival } = event.data
    return { claim, unrouted, at: bidsAnsweredAt(bids, arrival.occurredAt) }
  }
  if (event.type === 'CallRefused') {
    const { unrouted, arrival } = event.data
    return { claim: null, unrouted, at: arrival.occurredAt }
  }
  if (event.type === 'TargetClaimed') return { claim: event.data.claim, unrouted: null, at: event.data.occurredAt }
  if (event.type === 'PlanSpent') return { claim: null, unrouted: event.data.unrouted, at: event.data.occurredAt }
  return null
}

const dialledTarget = ({ target, destination, ringSeconds, whisper }: Claim): DialInput => ({
  targetId: target.id,
  destination,
  ringSeconds,
  acceptDigit: whisper?.acceptDigit ?? null,
})

/**
 * The most seconds that a call can last: a dial rings within the budget of its campaign, then somebody talks, or the caller hears
 * what is played to those that nobody takes.
 */
function longestSeconds({ script, callerHangsUpAfterSeconds = Number.POSITIVE_INFINITY }: SandboxCall): number {
  const talks = Object.values(script).flatMap((dials) => dials.map(({ talkSeconds = TALK_SECONDS }) => talkSeconds))
  const afterwards = Math.max(TALK_SECONDS, ...Object.values(STAYS_SECONDS), ...talks)
  return Math.min(callerHangsUpAfterSeconds, SECONDS.failoverBudget.max + afterwards)
}

/** The workspace as it is when a call is played, and whether states that this process has will do for what else is read. */
interface Estimated {
  readonly configured: WorkspaceState
  readonly atHand: boolean
}

/**
 * Estimates by dry runs how many seconds a call that arrives at an instant (ISO) lasts; a refusal if it cannot be placed. Bidders
 * are asked for it once: the call itself gets the same answers.
 */
async function estimateSeconds(
  { writer, askBidders, offers, leaseOf }: SandboxPorts,
  { to, from, sipHeaders, script, callerHangsUpAfterSeconds }: SandboxCall,
  caller: CommandContext,
  callId: string,
  seed: number,
  at: string,
  { configured, atHand }: Estimated,
): Promise<number | Refusal> {
  const key = routingKeyIn(sipHeaders)
  const routingKeyHash = key && secretHash(key)
  const [offer, lease] = await Promise.all([
    offers.offerFor(caller.workspaceId, configured, { to, caller: from ?? null, at }),
    leaseOf(caller.workspaceId, { to, at }),
  ])
  const arrival = {
    callId,
    carrierCallId: callId,
    to,
    caller: from ?? null,
    routingKeyHash,
    seed,
    ...(offer && { offer }),
    ...(lease && { lease }),
    occurredAt: at,
  }
  const rounds = new Map<number, readonly Bid[]>()
  const bidsOf = (round: number) => rounds.get(round) ?? []
  const ask = async (question: BidQuestion) => {
    const bids = await askBidders(caller.workspaceId, question)
    rounds.set(question.round, [...bidsOf(question.round), ...bids])
    return bids
  }
  let seconds = 0
  let runs = 0
  const run = () => {
    runs += 1
    const dials = new Map<string, number>()
    return writer.dryRun(
      (events) => {
        if (events.length === 0) return { command: routeCall, input: { ...arrival, ...bidsField(bidsOf(0)) } }
        const step = stepOf(events.findLast(({ type }) => STEPS.has(type)))
        if (!step) return null
        seconds = (Date.parse(step.at) - Date.parse(at)) / 1_000
        if (step.unrouted) seconds += STAYS_SECONDS[step.unrouted.action]
        if (!step.claim) return null
        const dialled = dialledTarget(step.claim)
        const scriptKey = scriptKeyOf(script, dialled)
        const nth = dials.get(scriptKey) ?? 0
        dials.set(scriptKey, nth + 1)
        const result = dialResultOf(entryFor(script, dialled, nth), dialled)
        seconds += result.afterSeconds
        if (result.answered) {
          seconds += result.talkSeconds
          return null
        }
        const { attempt } = step.claim
        const occurredAt = addMs(at, seconds * 1_000)
        return {
          command: failOver,
          input: { callId, attempt, ...failureOf(result), ...bidsField(bidsOf(attempt)), occurredAt },
        }
      },
      caller,
      atHand || runs > 1,
    )
  }
  const dryRun = await decideWithBids(ask, run)
  if (isRefusal(dryRun)) return dryRun
  return Math.min(seconds, callerHangsUpAfterSeconds ?? Number.POSITIVE_INFINITY)
}

/** Maximum arrivals to try: the route, and so the length of a call, depends on when it arrives. */
const MAX_DRY_RUNS = 5

/**
 * Finds the arrival (ms) of a call that ends now; if there is none, one after which the call has ended before now. All estimates
 * but the first are made with what that one has read.
 */
async function findArrival(
  nowMs: number,
  secondsAt: (arrivesMs: number, atHand: boolean) => Promise<number | Refusal>,
): Promise<number | Refusal> {
  let arrivesMs = nowMs
  let longestMs = 0
  for (let n = 0; n < MAX_DRY_RUNS; n += 1) {
    const seconds = await secondsAt(arrivesMs, n > 0)
    if (isRefusal(seconds)) return seconds
    const ms = Math.ceil(seconds * 1_000)
    if (arrivesMs + ms === nowMs) return arrivesMs
    arrivesMs = nowMs - ms
    longestMs = Math.max(longestMs, ms)
  }
  return nowMs - longestMs
}

/** A fictional caller: an unassigned 555 number in a real area code. */
function fictionalCaller(random: Random): string {
  return `+1212555${String(100 + (random.seed() % 90)).padStart(4, '0')}`
}

/**
 * Plays a call on the simulated carrier. Refusals: `number-not-found` when `to` is not a number of the workspace, `conflict`
 * when the number is not delivering, `validation-error` when a key of the script matches nothing, `bad-request` when `at` is
 * not allowed or the call would end after now. `configurationAgeMs`: how old the workspace's configuration may be that is read first.
 * @throws LogUnavailable, StoreUnavailable
 */
export async function playCall(
  ports: SandboxPorts,
  workspaceId: string,
  sent: SandboxCall,
  caller: CommandContext,
  configurationAgeMs = 0,
) {
  const { writer, simulator, clock, random } = ports
  const state = await writer.recentStateOf(workspace, workspaceId, configurationAgeMs)
  const unknownKeys = scriptKeyProblems(sent.script, state)
  if (unknownKeys) return refuse('validation-error', unknownKeys)
  const { numbers, numberIds } = state
  const number = numbers.get(numberIds.get(sent.to) ?? '')
  if (!number || number.status === 'released') return refuse('number-not-found')
  if (!isDelivering(number)) return refuse('conflict', { to: sent.to }, 'The number does not deliver calls.')
  if (sent.mode === 'live' && sent.at !== undefined) {
    return refuse('bad-request', { at: 'is only allowed with mode=instant' })
  }
  const callId = random.uuid()
  const from = sent.from === undefined ? fictionalCaller(random) : sent.from
  const seed = random.seed()
  const now = clock.now()
  const secondsAt = (ms: number, atHand = false) => {
    const estimated = { configured: state, atHand }
    return estimateSeconds(ports, { ...sent, from }, caller, callId, seed, new Date(ms).toISOString(), estimated)
  }
  let arrivesMs = sent.at === undefined ? now : Date.parse(sent.at)
  if (sent.mode === 'instant' && sent.at !== undefined) {
    // Most calls of a past day need no estimate.
    const isOver = arrivesMs + longestSeconds(sent) * 1_000 <= now
    const seconds = isOver ? 0 : await secondsAt(arrivesMs)
    if (isRefusal(seconds)) return seconds
    if (arrivesMs + seconds * 1_000 > now) return refuse('bad-request', { at: 'the call would end after now' })
  } else if (sent.mode === 'instant') {
    const arrives = await findArrival(now, secondsAt)
    if (isRefusal(arrives)) return arrives
    arrivesMs = arrives
  }
  const speed = sent.mode === 'live' ? sent.speed : 1
  const patience = sent.callerHangsUpAfterSeconds
  const placed: PlacedCall = {
    workspaceId,
    callId,
    carrierCallId: `sim_${callId.replaceAll('-', '')}`,
    to: sent.to,
    from,
    sipHeaders: sent.sipHeaders,
    script: sent.script,
    mode: sent.mode,
    speed,
    seed,
    arrivesAt: new Date(arrivesMs).toISOString(),
    givesUpAt: patience === undefined ? null : new Date(arrivesMs + (patience * 1_000) / speed).toISOString(),
  }
  await simulator.place(placed)
  const cached: CallState | null = writer.cachedStateOf(call, callId, workspaceId)
  const arrived = cached ?? (await writer.stateOf(call, callId, workspaceId))
  return { callId, ref: arrived?.arrival.ref ?? '', carrierCallId: placed.carrierCallId }
}

/** Event types that a played call can append. */
export const PLAYED_EVENT_TYPES = [...Object.keys(call.events), 'CallAdmitted', 'WalletCharged', 'OfferClaimed']

/** The routes of the sandbox. Mounted only with the simulated carrier. */
export function sandboxRoutes(ports: SandboxPorts): readonly ApiRoute[] {
  return [
    {
      method: 'POST',
      path: '/api/sandbox/calls',
      surface: 'sandbox',
      scope: null,
      write: true,
      name: 'play-call',
      summary: 'Play a simulated call',
      params: noParams,
      query: noParams,
      body: sandboxCall,
      responses: { 201: playedCall },
      rejects: ['number-not-found', 'conflict', 'bad-request'],
      async run({ body, principal, requestId, idempotencyKey, ip, surface }: ApiRequest) {
        const workspaceId = principal.tenant?.workspaceId ?? ''
        const played = await playCall(ports, workspaceId, sandboxCall.parse(body), {
          workspaceId,
          actor: principal.actor,
          commandId: idempotencyKey ?? ports.random.ulid(),
          correlationId: requestId,
          causationId: null,
          surface,
          ip,
        })
        if (isRefusal(played)) return played
        return { status: 201, body: played, ...(await ports.awaitProjections(PLAYED_EVENT_TYPES)) }
      },
    },
  ]
}
