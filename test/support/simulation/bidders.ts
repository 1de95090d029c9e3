import type { Clock } from '../../../src/ports/clock.ts'
import type { Egress, EgressRequest, EgressResponse } from '../../../src/ports/egress.ts'
import type { Chance } from './chance.ts'

type Answer = { readonly status: number; readonly body: unknown }

/** What a bidder answers, in the platform's own format: mostly a bid, with a life, a threshold and a destination of its own or without. */
function someAnswer(chance: Chance): Answer {
  if (chance.odds(0.15)) return { status: 200, body: { accept: false, reason: 'Not today.' } }
  if (chance.odds(0.15)) return { status: chance.among([204, 500, 503]), body: '' }
  const body = {
    accept: true,
    bid: { amountCents: 100 * chance.between(1, 20) },
    ...(chance.odds(0.5) && { durationSeconds: chance.among([0, 10, 30]) }),
    ...(chance.odds(0.5) && { expiresInSeconds: chance.among([2, 15, 60]) }),
    ...(chance.odds(0.3) && { destination: '+13125550990' }),
  }
  return { status: 200, body }
}

/** The network beyond a process: bidders that answer as chance decides, after a while, late, or not at all. */
export function createSimulatedEgress(chance: Chance, clock: Clock): Pick<Egress, 'send'> {
  const after = (ms: number) => new Promise<void>((resolve) => void clock.schedule(clock.now() + ms, resolve))
  return {
    async send({ timeoutMs }: EgressRequest): Promise<EgressResponse> {
      const ms = chance.among([5, 40, 200, 1_500, 6_000])
      if (ms >= timeoutMs) {
        await after(timeoutMs)
        return { ok: false, failure: 'timeout', sentence: 'It did not answer in time.', ms: timeoutMs }
      }
      const { status, body } = someAnswer(chance)
      await after(ms)
      return { ok: true, status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body), ms }
    },
  }
}
