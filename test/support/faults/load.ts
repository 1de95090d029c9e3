import { setTimeout as pause } from 'node:timers/promises'
import type { ScriptedDial } from '../../../src/ports/call-script.ts'
import { createApiClient } from '../e2e/api-client.ts'
import type { FaultWorld } from './world.ts'

/** The usual pause (ms) between two calls of a client, in which the machine can end calls. */
const PAUSE_MS = 25
const HOUR_MS = 3_600_000

/** Clients that place calls and convert, adjust and tag them until they are stopped, across crashes of the platform. */
export interface Load {
  /** Ids of the calls that were answered with 201. */
  readonly acknowledged: ReadonlySet<string>
  /** Types and streams of the events that must exist, because their action was answered with 200. */
  readonly written: ReadonlySet<string>
  /** Answers that the platform must never give, as text. */
  readonly strange: readonly string[]
  /** Stops the clients and waits for their open requests. */
  readonly stop: () => Promise<void>
}

type Chance = () => number

const RESULTS: readonly ScriptedDial['result'][] = ['busy', 'no_answer', 'rejected', 'unavailable']

function scriptedDial(chance: Chance): ScriptedDial {
  const afterSeconds = Math.round(chance() * 6)
  const result = chance() < 0.65 ? 'answer' : (RESULTS[Math.floor(chance() * RESULTS.length)] ?? 'busy')
  if (result !== 'answer') return { result, afterSeconds }
  return {
    result,
    afterSeconds,
    talkSeconds: Math.round(1 + chance() * 90),
    hungUpBy: chance() < 0.5 ? 'buyer' : 'caller',
  }
}

/** A random call for the sandbox: instant or live, now or an hour ago, with a script for every target. */
export function someCall({ lines, targets }: FaultWorld, chance: Chance): Readonly<Record<string, unknown>> {
  const line = lines[Math.floor(chance() * lines.length)] ?? lines[0]
  const instant = chance() < 0.5
  const at = instant && chance() < 0.5 ? { at: new Date(Date.now() - HOUR_MS).toISOString() } : {}
  const speed = instant ? {} : { speed: chance() < 0.8 ? 60 : 20 }
  const patience = chance() < 0.2 ? { callerHangsUpAfterSeconds: Math.round(chance() * 40) } : {}
  const fates = targets.map((target) => [target, [scriptedDial(chance), scriptedDial(chance)]])
  return {
    to: line?.e164,
    from: chance() < 0.1 ? null : `+1212555${String(100 + Math.floor(chance() * 100)).padStart(4, '0')}`,
    mode: instant ? 'instant' : 'live',
    ...at,
    ...speed,
    ...patience,
    script: Object.fromEntries(fates),
  }
}

/** Share of the calls after which the client acts on one of its calls. */
const ACTION_SHARE = 0.5

const cents = (chance: Chance, most: number) => Math.floor(chance() * most) * 100

interface CallAction {
  readonly path: string
  /** The event of the action, unless it is refused. */
  readonly type: string
  /** The body of the request; `n` is different in each. */
  readonly body: (chance: Chance, n: number) => object
}

const CALL_ACTIONS: readonly CallAction[] = [
  {
    path: 'conversion',
    type: 'ConversionPosted',
    body: (chance) => ({ converted: true, ...(chance() < 0.5 && { revenueCents: cents(chance, 50) }) }),
  },
  { path: 'adjust', type: 'CallAdjusted', body: (chance) => ({ payoutCents: cents(chance, 10), reason: 'By hand' }) },
  {
    path: 'adjust',
    type: 'CallAdjusted',
    body: (chance) => ({ converted: chance() < 0.5, reason: 'Agreed by telephone' }),
  },
  { path: 'tags', type: 'CallTagged', body: (_chance, n) => ({ tags: { source: `mark ${n}` } }) },
]

/** Answers that ask the client to wait: the rate limit, and an unavailable platform. */
const RETRY_STATUSES: ReadonlySet<number> = new Set([429, 503])
/** Answers to an action on a call that is still live, not yet known, or already in that state. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([...RETRY_STATUSES, 400, 404, 409])

interface LoadPace {
  /** The pause between two calls of a client. */
  readonly pauseMs?: number
  /** Back-pressure: whether clients place no call for now, by the number of acknowledged calls. */
  readonly isPaused?: (acknowledged: number) => boolean
}

/** Starts a load on servers that may be unavailable at any time. `nextBase` gives the base URL of the next call. */
export function startLoad(
  world: FaultWorld,
  clients: number,
  nextBase: () => string,
  chance: Chance,
  { pauseMs = PAUSE_MS, isPaused = () => false }: LoadPace = {},
): Load {
  const acknowledged = new Set<string>()
  const written = new Set<string>()
  const strange: string[] = []
  let acts = 0
  let ended = false
  const ask = createApiClient(nextBase, world.tenant.session)
  const act = async (callId: string) => {
    const chosen = CALL_ACTIONS[Math.floor(chance() * CALL_ACTIONS.length)]
    if (!chosen) return
    const { path, type, body } = chosen
    acts += 1
    const sent = { method: 'POST', body: body(chance, acts) }
    const answer = await ask(`/api/tracking/calls/${callId}/${path}`, sent).catch(() => null)
    if (answer?.status === 200) written.add(`${type} of ${callId}`)
    else if (answer && !REFUSED_STATUSES.has(answer.status)) strange.push(`${path}: ${answer.status} ${answer.text}`)
  }
  const client = async () => {
    const own: string[] = []
    for (; !ended; await pause(pauseMs)) {
      if (isPaused(acknowledged.size)) continue
      const body = someCall(world, chance)
      const answer = await ask('/api/sandbox/calls', { method: 'POST', body }).catch(() => null)
      if (answer?.status === 201) {
        acknowledged.add(answer.body.callId)
        own.push(answer.body.callId)
      } else if (answer && !RETRY_STATUSES.has(answer.status)) strange.push(`${answer.status} ${answer.text}`)
      const callId = own[Math.floor(chance() * own.length)]
      if (callId && chance() < ACTION_SHARE) await act(callId)
    }
  }
  const running = Array.from({ length: clients }, client)
  return {
    acknowledged,
    written,
    strange,
    async stop() {
      ended = true
      await Promise.all(running)
    },
  }
}
