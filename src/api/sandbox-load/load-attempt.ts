import { laneNumbers } from '../../domain/auctions/lane-numbers.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { createRandom } from '../../domain/routing/random.ts'
import { PING } from '../../domain/shared/limits.ts'
import { areaCodes } from '../../domain/shared/nanp.ts'
import { isRefusal } from '../../kernel/refusal.ts'
import type { RawBody } from '../../ports/api.ts'
import type { CommandContext } from '../../ports/command-handler.ts'
import type { PingDesk } from '../auctions/hold-ping.ts'
import { type PublisherRequest, readPing } from '../auctions/ping-request.ts'
import type { createPostDesk } from '../auctions/post-offer.ts'
import type { PublisherKey } from '../auctions/publisher-keys.ts'
import { playCall, type SandboxPorts, sandboxCall } from '../sandbox.ts'
import type { LoadCounts, SandboxLoad } from './load.ts'
import { type LoadLane, loadKeyOf } from './load-lanes.ts'

/** What the attempts of a load are made with: the same as those of publishers and of the sandbox's calls. */
export interface LoadPorts extends SandboxPorts {
  /** Judges pings, whatever their number: the sandbox counts towards no rate limit. */
  readonly pings: Pick<PingDesk, 'judge'>
  readonly post: ReturnType<typeof createPostDesk>
}

/** A call arrives at once and is over within a second. */
const SPEED = 1_000
/** Fictional numbers of an area code: 555-0100 to 555-0199. */
const FICTIONAL = 100
const codes = [...areaCodes.keys()].toSorted()

/** The fictional caller of a place; callers of as many neighbouring places as there are fictional numbers differ. */
function fictionalCaller(place: number): string {
  const code = codes[place % codes.length]
  const line = Math.floor(place / codes.length) % FICTIONAL
  return `+1${code}555${String(FICTIONAL + line).padStart(4, '0')}`
}

/** A body as a publisher would have sent it. */
function rawOf(body: object): RawBody {
  const headers = { 'content-type': 'application/json', 'user-agent': 'ringledger-sandbox-load' }
  return { headers, bytes: new TextEncoder().encode(JSON.stringify(body)), check: (value) => ({ value }) }
}

/**
 * Creates the attempts of a load: each begins with a ping or a call, by chance according to the mix. What came of it is added to
 * `counts`. An attempt never rejects.
 */
export function createAttempts(
  ports: LoadPorts,
  caller: CommandContext,
  { mix, lanes }: Pick<SandboxLoad, 'mix'> & { readonly lanes: readonly LoadLane[] },
  counts: LoadCounts,
): (n: number) => Promise<void> {
  const { writer, clock, random, pings, post } = ports
  const { workspaceId } = caller
  const chance = createRandom(random.seed())
  const first = random.seed()
  const configuration = () => writer.recentStateOf(workspace, workspaceId, PING.foldAgeMs)

  const requestOf = (body: object): PublisherRequest => ({
    requestId: caller.correlationId,
    ip: caller.ip ?? '',
    raw: rawOf(body),
    query: {},
    receivedMs: clock.now(),
  })

  async function place(to: string | undefined, from: string): Promise<void> {
    const sent = sandboxCall.safeParse({ to, from, mode: 'live', speed: SPEED })
    const played = sent.success ? await playCall(ports, workspaceId, sent.data, caller) : null
    if (played === null || isRefusal(played)) counts.failed += 1
    else counts.placed += 1
  }

  /** The number that a won ping is called at; null where its post got none. */
  async function numberOf(found: PublisherKey, auctionId: string, from: string, offered: string | undefined) {
    if (chance() >= mix.post) return offered
    const answer = await post(found, requestOf({ auctionId, callerNumber: from }))
    if (isRefusal(answer)) throw new Error(answer.refused)
    if (answer.outcome !== 'accepted') return null
    counts.posted += 1
    return answer.number
  }

  async function ping({ keyId, campaignId, publisherId }: LoadLane, from: string): Promise<void> {
    const configured = await configuration()
    const key = loadKeyOf(configured, keyId)
    if (!key) throw new Error('The key no longer works.')
    const found = { workspaceId, key, configured }
    const judged = await pings.judge(found, requestOf({ callerNumber: from }), 'rtb_v1', readPing)
    if (isRefusal(judged)) throw new Error(judged.refused)
    counts.pings += 1
    const { ping: asked, offer } = judged.held
    if (!offer) return
    counts.won += 1
    const [number] = laneNumbers(configured, campaignId, publisherId)
    const to = await numberOf(found, asked.auctionId, from, offer.number?.e164 ?? number?.e164)
    if (to === null || chance() < mix.ghost) return
    await place(to, from)
  }

  async function attempt(n: number): Promise<void> {
    const lane = lanes[Math.floor(chance() * lanes.length)]
    if (!lane) throw new Error('There is no lane.')
    const from = fictionalCaller(first + n)
    if (chance() < mix.ping) return ping(lane, from)
    const [number] = laneNumbers(await configuration(), lane.campaignId, lane.publisherId)
    await place(number?.e164, from)
  }

  return (n) =>
    attempt(n).catch(() => {
      counts.failed += 1
    })
}
