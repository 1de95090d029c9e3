import { reserveOffer } from '../../../commands/auctions/reserve-offer.ts'
import { settleCall } from '../../../commands/calls/settle-call.ts'
import { queueDelivery } from '../../../commands/delivery/queue-delivery.ts'
import { recordAttempt } from '../../../commands/delivery/record-attempt.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { routeCall } from '../../../commands/routing/route-call.ts'
import type { WorkspaceState } from '../../../src/domain/configuration/workspace.ts'
import { type LedgerState, releaseReservation } from '../../../src/domain/routing/ledger.ts'
import { derivedId } from '../../../src/kernel/derived-id.ts'
import { sha256 } from '../../../src/kernel/sha256.ts'
import { createWindowedMap } from '../../../src/kernel/windowed-map.ts'
import type { NumberTools } from '../../../src/reactions/number-orders.ts'
import type { Bug } from './process.ts'

/** The configuration with the daily caps of all targets removed. */
function withoutDailyCaps(state: WorkspaceState): WorkspaceState {
  return { ...state, targets: state.targets.map((target) => ({ ...target, dailyCap: 0 })) }
}

const withoutCapsIn = <States extends { readonly workspace: WorkspaceState }>(reads: States): States => ({
  ...reads,
  workspace: withoutDailyCaps(reads.workspace),
})

const routeIgnoringCaps: typeof routeCall = {
  ...routeCall,
  decide: (input, state, context) =>
    routeCall.decide(input, state, { ...context, reads: withoutCapsIn(context.reads) }),
}

const failOverIgnoringCaps: typeof failOver = {
  ...failOver,
  decide: (input, state, context) => failOver.decide(input, state, { ...context, reads: withoutCapsIn(context.reads) }),
}

/** A ledger without the slots that accepted posts hold. */
const withoutHeldSlots = (state: LedgerState, now: string): LedgerState =>
  [...state.reservations.keys()].reduce((left, auctionId) => releaseReservation(left, auctionId, now), state)

const reserveIgnoringPosts: typeof reserveOffer = {
  ...reserveOffer,
  decide: (input, state, context) =>
    state.reservations.has(input.offer.auctionId)
      ? []
      : reserveOffer.decide(input, withoutHeldSlots(state, context.now), context),
}

const routeIgnoringPosts: typeof routeCall = {
  ...routeCall,
  decide: (input, state, context) => routeCall.decide(input, withoutHeldSlots(state, context.now), context),
}

const routeIgnoringEnds: typeof routeCall = {
  ...routeCall,
  decide: (input, state, context) => routeCall.decide(input, { ...state, endedOffers: createWindowedMap() }, context),
}

const settleAgain: typeof settleCall = {
  ...settleCall,
  decide: (input, state, context) => settleCall.decide(input, state && { ...state, settled: null }, context),
}

/** An event that is fired by another process than the one that appended it has other ids. */
function withOwnIds(tools: NumberTools): NumberTools {
  return {
    ...tools,
    run: (command, input, cause) => {
      if (command.name !== queueDelivery.name) return tools.run(command, input, cause)
      const queued = queueDelivery.input.parse(input)
      const { webhookId, event, data } = queued
      const again = sha256(JSON.stringify([event, data]))
      const ids = { requestId: `req_${again.slice(0, 32)}`, deliveryId: derivedId(`${again} ${webhookId}`) }
      return tools.run(command, { ...queued, ...ids }, cause)
    },
  }
}

const recordAnswered: typeof recordAttempt = {
  ...recordAttempt,
  decide: (input, state, context) => (input.status === 0 ? [] : recordAttempt.decide(input, state, context)),
}

/** Seeded bugs of the kind that the simulation must find. A settlement and a release go wrong under faults only. */
export const bugs = {
  /** A claim checks every cap of a target except the daily one. */
  forgottenCap: {
    name: 'a claim that forgets a cap',
    commands: { 'route-call': routeIgnoringCaps, 'fail-over': failOverIgnoringCaps },
  },
  /** A post is accepted as if no other post held a slot. */
  forgottenPosts: {
    name: 'a post that ignores the slots of other posts',
    commands: { 'reserve-offer': reserveIgnoringPosts },
  },
  /** A call takes slots that are held for posts, and does not give back those of its own. */
  forgottenReservation: {
    name: 'an arrival that ignores reservations',
    commands: { 'route-call': routeIgnoringPosts },
  },
  /** A call claims an offer that another call has claimed, or whose post has ended. */
  claimedTwice: {
    name: 'an arrival that claims an offer which is over',
    commands: { 'route-call': routeIgnoringEnds },
  },
  /** A call that is settled already is settled again by the next process. */
  settledTwice: {
    name: 'a settlement that is not idempotent',
    commands: { 'settle-call': settleAgain },
  },
  /** The process that recovers the work of a dead one does not release calls. */
  lostRelease: {
    name: 'a release that is lost with the crash',
    recovery: (tools) => ({
      ...tools,
      run: async (command, input, cause) =>
        command.name === releaseCall.name ? null : tools.run(command, input, cause),
    }),
  },
  /** The ids of a delivery follow from who fires it. */
  firedTwice: {
    name: 'an event that is fired twice under two ids',
    recovery: withOwnIds,
  },
  /** A request that was not answered is not recorded. */
  unrecordedAttempt: {
    name: 'an attempt that is not recorded',
    commands: { 'record-attempt': recordAnswered },
  },
} satisfies Readonly<Record<string, Bug>>
