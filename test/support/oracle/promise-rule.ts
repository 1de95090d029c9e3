import type { z } from 'zod'
import { callEvents } from '../../../src/domain/calls/call.ts'
import { parseStreamName } from '../../../src/kernel/entity.ts'
import { halfUp } from './money.ts'
import type { Rule } from './rule.ts'

const arrived = callEvents.CallArrived.pick({ terms: true })
const settled = callEvents.CallSettled.pick({
  callId: true,
  converted: true,
  revenueCents: true,
  payoutCents: true,
  buyerId: true,
})
const ended = callEvents.CallEnded.pick({ callId: true, talkSeconds: true })
type Terms = z.infer<typeof arrived>['terms']

/** What a publisher is owed by the terms of its lane. */
function owedByTerms(terms: Terms, revenueCents: number): number {
  if (terms.payoutWithheld !== null || terms.payoutMode === 'none') return 0
  if (terms.payoutMode === 'fixed') return terms.payoutCents ?? 0
  const share = halfUp((revenueCents * (terms.revsharePct ?? 0)) / 100)
  return Math.min(Math.max(share, terms.minPayoutCents ?? 0), terms.maxPayoutCents ?? Number.POSITIVE_INFINITY)
}

/**
 * A call that was won at auction and reached a buyer earns what was promised, once it has talked as long as was promised; below that, and
 * every other call, what its terms say of a conversion. Calls whose payout a person has set are left out.
 */
export function promiseRule(): Rule {
  const termsOf = new Map<string, Terms>()
  const talks = new Map<string, number>()
  const adjusted = new Set<string>()
  return {
    see({ type, stream, data }) {
      const { id } = parseStreamName(stream)
      if (type === 'CallArrived') termsOf.set(id, arrived.parse(data).terms)
      if (type === 'CallEnded') talks.set(id, ended.parse(data).talkSeconds)
      if (type === 'CallAdjusted') adjusted.add(id)
      if (type !== 'CallSettled' || adjusted.has(id)) return []
      const { converted, revenueCents, payoutCents, buyerId } = settled.parse(data)
      const terms = termsOf.get(id)
      if (!terms) return [`${id} was settled before it arrived`]
      const { promise } = terms
      const isPromised = promise && buyerId !== null && (talks.get(id) ?? 0) >= promise.durationThresholdSeconds
      const owed = isPromised ? promise.payoutCents : converted ? owedByTerms(terms, revenueCents) : 0
      return payoutCents === owed ? [] : [`${id} was settled with a payout of ${payoutCents}, and owes ${owed}`]
    },
  }
}
