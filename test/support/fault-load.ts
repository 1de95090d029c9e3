import { setTimeout as pause } from 'node:timers/promises'
import type { ScriptedDial } from '../../src/adapters/simulator/script.ts'
import { asking } from './e2e-client.ts'
import type { FaultWorld } from './fault-world.ts'

/** Between two calls of one client: the load leaves the machine room to end them. */
const BREATH_MS = 25
const HOUR_MS = 3_600_000

/** Clients that place calls for as long as they are let, whoever dies meanwhile. */
export interface Load {
  /** Ids of the calls that were answered with 201. */
  readonly acknowledged: ReadonlySet<string>
  /** Answers that were neither 201 nor 503, as text: there are none. */
  readonly strange: readonly string[]
  /** Ends it, and waits for what is under way. */
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

/** A call as the sandbox takes it: instant or live, now or an hour ago, with a fate for every target. */
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

/** Begins a load on servers that may be away at any time; `nextBase` says where the next call is sent. */
export function beginLoad(world: FaultWorld, clients: number, nextBase: () => string, chance: Chance): Load {
  const acknowledged = new Set<string>()
  const strange: string[] = []
  let ended = false
  const ask = asking(nextBase, world.tenant.session)
  const client = async () => {
    while (!ended) {
      const body = someCall(world, chance)
      const answer = await ask('/api/sandbox/calls', { method: 'POST', body }).catch(() => null)
      if (answer?.status === 201) acknowledged.add(answer.body.callId)
      else if (answer && answer.status !== 503) strange.push(`${answer.status} ${answer.text}`)
      await pause(BREATH_MS)
    }
  }
  const running = Array.from({ length: clients }, client)
  return {
    acknowledged,
    strange,
    async stop() {
      ended = true
      await Promise.all(running)
    },
  }
}
