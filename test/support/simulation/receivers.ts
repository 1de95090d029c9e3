import type { Egress, EgressRequest, EgressResponse } from '../../../src/ports/egress.ts'
import { deliveryWaitMs } from '../oracle/deliveries.ts'
import type { Chance } from './chance.ts'
import type { Met } from './steps.ts'
import type { Agenda } from './time.ts'

/** A request as a receiver got it. */
export interface ReceivedRequest {
  readonly url: string
  readonly requestId: string
  readonly attempt: number
  readonly body: string
  /** The status of the answer; null where none came. */
  readonly status: number | null
}

/** The process that sends, as far as its requests are judged by it. */
export interface Sender {
  readonly name: string
  readonly alive: () => boolean
  readonly hasStoodStill: () => boolean
  /** Number of its port calls that have failed. */
  readonly faults: () => number
}

/** What a receiver makes of a request: an answer after a while, none, or a connection that breaks. */
type Conduct =
  | { readonly kind: 'answers'; readonly status: number; readonly afterMs: number }
  | { readonly kind: 'silent' }
  | { readonly kind: 'breaks'; readonly afterMs: number }

/** How receivers behave: shares of their requests, from 0 to 1. */
export interface ReceiverBehaviour {
  readonly fails: number
  readonly silent: number
  readonly breaks: number
}

/** The customers' servers. They never crash. */
export interface Receivers {
  readonly received: readonly ReceivedRequest[]
  /** The network as a process sees it. `turn` waits until it is the request's turn, and resolves to its fault. */
  readonly egressOf: (
    sender: Sender,
    turn: () => Promise<Met | undefined>,
    after: (ms: number) => Promise<void>,
  ) => Pick<Egress, 'send'>
  /** A sentence for each request that no receiver should have got. */
  readonly violations: readonly string[]
}

/** A request whose fate is watched. */
interface Watched extends ReceivedRequest {
  readonly sender: Sender
  /** Faults of the sender when it began. */
  readonly faults: number
  /** Until when (ms) it is under way; of a connection that the sender's death does not end. */
  readonly endsAt: number
}

const PROMPT_MS = [2, 5, 40, 400, 2_500]
const OTHER_STATUSES = [301, 302, 307, 400, 401, 404, 410, 429, 500, 502, 503]

/** An answer that does not come, or breaks off. */
const failed = (failure: 'timeout' | 'unreachable', sentence: string, ms: number): EgressResponse => ({
  ok: false,
  failure,
  sentence,
  ms,
})

const nameOf = ({ attempt, requestId, url }: ReceivedRequest) => `attempt ${attempt} of ${requestId} to ${url}`

/** Creates the receivers. `isDead`: nobody ever answers at this URL. */
export function createReceivers({
  agenda,
  chance,
  behaviour: { fails, silent, breaks },
  isDead,
  isTimely,
  trace,
}: {
  readonly agenda: Agenda
  readonly chance: Chance
  readonly behaviour: ReceiverBehaviour
  readonly isDead: (url: string) => boolean
  /** Whether processes work in time, by clocks that agree: else claims lapse while their owners work. */
  readonly isTimely: boolean
  readonly trace: (line: string) => void
}): Receivers {
  const received: Watched[] = []
  const violations: string[] = []

  function conductAt(url: string): Conduct {
    if (isDead(url) || chance.odds(silent)) return { kind: 'silent' }
    const afterMs = chance.among(PROMPT_MS)
    if (chance.odds(breaks)) return { kind: 'breaks', afterMs }
    return {
      kind: 'answers',
      afterMs,
      status: chance.odds(fails) ? chance.among(OTHER_STATUSES) : chance.among([200, 204]),
    }
  }

  const isUnderWay = ({ endsAt, sender }: Watched) => endsAt > agenda.now() && sender.alive()
  /** Whether a request need not be in the log: its sender died, stood still, or met a fault since. */
  const mayBeLost = ({ sender, faults }: Watched) =>
    !sender.alive() || sender.hasStoodStill() || sender.faults() > faults

  /** Why a request should not have been sent now, beside those before it. */
  function judge(request: Watched): readonly string[] {
    const before = received.filter(({ url, requestId }) => url === request.url && requestId === request.requestId)
    const besides = before.filter(
      (one) => isUnderWay(one) && one.sender !== request.sender && !one.sender.hasStoodStill(),
    )
    const repeated = before.filter((one) => one.attempt === request.attempt && !mayBeLost(one))
    const previous = before.findLast(({ attempt }) => attempt === request.attempt - 1)
    const dueAt = previous ? previous.endsAt + deliveryWaitMs(request.attempt) : 0
    return [
      ...besides.map(
        ({ sender }) => `${request.sender.name} sent ${nameOf(request)} while ${sender.name} was sending it`,
      ),
      ...repeated.map(({ sender }) => `${request.sender.name} sent ${nameOf(request)}, which ${sender.name} had sent`),
      ...(dueAt > agenda.now() ? [`${nameOf(request)} came ${dueAt - agenda.now()} ms early`] : []),
    ]
  }

  function receive(sender: Sender, { url, headers, body, timeoutMs }: EgressRequest, conduct: Conduct): void {
    const lastsMs = conduct.kind === 'silent' ? timeoutMs : conduct.afterMs
    const request: Watched = {
      url,
      requestId: headers['svc-request-id'] ?? '',
      attempt: Number(headers['svc-attempt']),
      body: body ?? '',
      status: conduct.kind === 'answers' ? conduct.status : null,
      sender,
      faults: sender.faults(),
      endsAt: agenda.now() + lastsMs,
    }
    if (isTimely) violations.push(...judge(request))
    received.push(request)
    // Time does not skip its end, as it skips timers that only look for work.
    agenda.at(request.endsAt, () => undefined)
    trace(`${sender.name} sends ${nameOf(request)}: ${request.status ?? conduct.kind}`)
  }

  return {
    received,
    violations,
    egressOf: (sender, turn, after) => ({
      async send(request) {
        const since = agenda.now()
        // The time until its turn is part of its duration, as the time until a connection is there.
        const ms = () => agenda.now() - since
        const fate = await turn()
        if (fate === 'fail') return failed('unreachable', 'The receiver cannot be reached.', ms())
        const drawn = conductAt(request.url)
        const conduct: Conduct = fate === 'lose' ? { kind: 'breaks', afterMs: 1 } : drawn
        receive(sender, request, conduct)
        if (fate === 'vanish') return new Promise(() => undefined)
        if (conduct.kind === 'silent') {
          await after(request.timeoutMs)
          return failed('timeout', 'It did not answer in time.', ms())
        }
        await after(conduct.afterMs)
        if (conduct.kind === 'breaks') return failed('unreachable', 'The connection broke.', ms())
        return { ok: true, status: conduct.status, headers: {}, body: '', ms: ms() }
      },
    }),
  }
}
