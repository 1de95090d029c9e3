import { LRUCache } from 'lru-cache'
import { type Bid, type BidReading, bidOf, readBid, withoutHeaders } from '../domain/bidding/bid.ts'
import { type BidRequest, type CreateBidRequest, createBidRequests } from '../domain/bidding/bid-request.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { storedPathProblem } from '../domain/demand/bid-answer.ts'
import type { Rtb } from '../domain/demand/endpoint.ts'
import type { Target } from '../domain/demand/target.ts'
import { type BidQuestion, questionOf } from '../domain/routing/bids.ts'
import { RTB } from '../domain/shared/limits.ts'
import { isRefusal, type Refusal } from '../kernel/refusal.ts'
import type { Egress } from '../ports/egress.ts'
import type { Random } from '../ports/random.ts'
import { bidHeaderPlace } from '../ports/sealed-places.ts'
import type { Secrets } from '../ports/secrets.ts'

/** Asks bidders about a call of a workspace. Resolves to one bid for each, whatever they do. */
export type AskBidders = (workspaceId: string, question: BidQuestion) => Promise<readonly Bid[]>

/** The headers of a bidder, opened. */
export function openBidHeaders(
  secrets: Pick<Secrets, 'unseal'>,
  workspaceId: string,
  targetId: string,
  bidHeaders: Rtb['bidHeaders'],
): Rtb['bidHeaders'] {
  const opened = Object.entries(bidHeaders).map(([name, value]) => [
    name,
    secrets.unseal(value, bidHeaderPlace(workspaceId, targetId, name)),
  ])
  return Object.fromEntries(opened)
}

/** The workspace's hash of a caller: the first 32 hexadecimal digits of an HMAC-SHA256 (Supplement §8). */
export function callerHash(secrets: Pick<Secrets, 'mac'>, workspaceId: string, caller: string): string {
  const mac = secrets.mac(`caller hash\n${workspaceId}`, caller)
  return Buffer.from(mac, 'base64url').toString('hex').slice(0, 32)
}

/** What of a workspace's configuration asking its bidders needs. */
type BidderState = Pick<WorkspaceState, 'targets' | 'buyers' | 'workspace'>

/** What came of a request to a bidder, before it is dated. */
interface Answered extends Pick<Bid, 'bidId' | 'target' | 'buyer' | 'latencyMs'> {
  readonly rtb: Pick<Rtb, 'destination'>
  readonly reading: BidReading
}

/** How long (ms) the answer of a bidder about a call is repeated to the same question: a call's dry run asks before the call does. */
const REPEATED_MS = 60_000
const MAX_REPEATED = 10_000

/** What is opened; null where it was sealed under another key: a call waits for no bidder that cannot be asked. */
function openedOrNull<Opened>(open: () => Opened): Opened | null {
  try {
    return open()
  } catch {
    return null
  }
}

/** What came of a bidder that was not asked. `status`: `error` counts as a failure of it. */
const unasked = (problem: string, status: 'error' | 'no_bid' = 'error'): Pick<Answered, 'reading' | 'latencyMs'> => ({
  reading: { status, httpStatus: null, rawBidCents: null, rejectCode: null, answer: null, problem },
  latencyMs: 0,
})

/** Creates the client of the bidders: each is asked through the guard for customers' addresses, all at the same time. */
export function createBidders(ports: {
  readonly egress: Pick<Egress, 'send'>
  readonly secrets: Pick<Secrets, 'unseal' | 'mac'>
  readonly random: Pick<Random, 'uuid'>
  /** The present configuration of a workspace. */
  readonly configuration: (workspaceId: string) => Promise<BidderState>
}): AskBidders {
  const { egress, secrets, random, configuration } = ports
  const repeated = new LRUCache<string, Promise<Answered>>({ max: MAX_REPEATED, ttl: REPEATED_MS })

  /** The request to a bidder, and the headers of its own that are in it; or why it is not asked. */
  function requestFor(
    workspaceId: string,
    target: Target | undefined,
    { bidId, buyer }: Pick<Answered, 'bidId' | 'buyer'>,
    requestOf: CreateBidRequest,
  ): { readonly request: BidRequest; readonly rtb: Rtb; readonly bidHeaders: Rtb['bidHeaders'] } | string {
    if (!target) return 'does not exist'
    const { id, name, rtb, externalRef: ref } = target
    if (rtb === null || rtb.bidUrl === null) return 'has no bid URL'
    const refused = storedPathProblem(rtb)
    if (refused !== null) return `was not asked: ${refused}`
    const bidHeaders = openedOrNull(() => openBidHeaders(secrets, workspaceId, id, rtb.bidHeaders))
    if (bidHeaders === null) return 'was not asked: its headers cannot be opened'
    const bidder = { bidId, target: { id, name, ref }, buyer, bidCents: null }
    return { request: requestOf({ ...rtb, bidUrl: rtb.bidUrl, bidHeaders }, bidder), rtb, bidHeaders }
  }

  async function askOne(
    workspaceId: string,
    { targets, buyers, workspace }: BidderState,
    targetId: string,
    { budgetMs }: BidQuestion,
    requestOf: CreateBidRequest,
  ): Promise<Answered> {
    const target = targets.get(targetId)
    const facts = {
      bidId: random.uuid(),
      target: { id: targetId, name: target?.name ?? '' },
      buyer: { id: target?.buyerId ?? '', name: buyers.get(target?.buyerId ?? '')?.name ?? '' },
      rtb: { destination: target?.rtb?.destination ?? null },
    }
    if (budgetMs === 0) return { ...facts, ...unasked('was not asked: no time was left for it', 'no_bid') }
    const asked = requestFor(workspaceId, target, facts, requestOf)
    if (typeof asked === 'string') return { ...facts, ...unasked(asked) }
    const { request, rtb, bidHeaders } = asked
    const response = await egress.send({
      ...request,
      timeoutMs: Math.min(rtb.timeoutMs, budgetMs),
      maxBytes: RTB.answerBytes,
      ownSandbox: workspace?.sandbox ?? false,
    })
    const reading = withoutHeaders(readBid(rtb, response), bidHeaders)
    return { ...facts, reading, latencyMs: Math.max(0, Math.round(response.ms)) }
  }

  return async (workspaceId, given) => {
    const state = await configuration(workspaceId)
    const { caller, auction, dialedNumber, at } = given.subject
    // A ping has no dry run.
    const isRepeatable = dialedNumber !== null
    const hash = caller.e164 === null ? null : callerHash(secrets, workspaceId, caller.e164)
    const requestOf = createBidRequests({ ...given.subject, caller: { ...caller, hash } })
    const answers = given.targetIds.map(async (targetId) => {
      const key = isRepeatable ? `${workspaceId} ${auction.id} ${given.round} ${targetId}` : null
      const answered = (key !== null && repeated.get(key)) || askOne(workspaceId, state, targetId, given, requestOf)
      if (key !== null) repeated.set(key, answered)
      const { rtb, reading, ...asked } = await answered
      return bidOf({ ...asked, askedAt: at }, rtb, reading)
    })
    return Promise.all(answers)
  }
}

/**
 * Runs a decision, and again with the bids that it needs, until it needs no more. `seed` is that of the run before: a new one could
 * order the plan otherwise than that by which bidders were asked. Null at the first run.
 */
export async function decideWithBids<Outcome>(
  ask: (question: BidQuestion) => Promise<readonly Bid[]>,
  decide: (bids: readonly Bid[], seed: number | null) => Promise<Outcome | Refusal>,
): Promise<Outcome | Refusal> {
  let bids: readonly Bid[] = []
  let seed: number | null = null
  for (;;) {
    const outcome = await decide(bids, seed)
    const question = isRefusal(outcome) ? questionOf(outcome) : null
    if (question === null) return outcome
    seed = question.seed
    bids = [...bids, ...(await ask(question))]
  }
}
