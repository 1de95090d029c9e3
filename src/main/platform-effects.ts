import { secretHash } from '../api/secret-hash.ts'
import { auction } from '../domain/auctions/auction.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import { bidsField } from '../domain/routing/bids.ts'
import { ledgerEvents } from '../domain/routing/ledger-events.ts'
import { routingKeyOf } from '../domain/routing/sender.ts'
import { PING, WEBHOOK } from '../domain/shared/limits.ts'
import type { RoutingKeyUse } from '../domain/supply/routing-key-use.ts'
import { createKeyedMutex } from '../kernel/async/mutex.ts'
import { type Actor, dataOf, type RecordedEvent } from '../kernel/event.ts'
import type { AnyReaction } from '../kernel/reaction.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { Carrier, CarrierNotice } from '../ports/carrier.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import { decideWithBids } from '../reactions/ask-bidders.ts'
import { auctionFlow } from '../reactions/auction-flow.ts'
import { auctionJobHandlers } from '../reactions/auction-job-handlers.ts'
import { callFlow } from '../reactions/call-flow.ts'
import { callJobHandlers } from '../reactions/call-job-handlers.ts'
import type { LeaseOfCall } from '../reactions/call-leases.ts'
import type { DeliveryStore } from '../reactions/delivery-store.ts'
import type { LeaseEnds } from '../reactions/lease-ends.ts'
import { leaseFlow } from '../reactions/lease-flow.ts'
import { leaseJobHandlers } from '../reactions/lease-job-handlers.ts'
import { commandFor } from '../reactions/notice-commands.ts'
import { numberJobHandlers } from '../reactions/number-job-handlers.ts'
import { type NumberTools, numberOrders } from '../reactions/number-orders.ts'
import { renewals } from '../reactions/renewals.ts'
import { jobHandlersOf, type ScheduledJob } from '../reactions/scheduled-jobs.ts'
import type { AuctionPorts, Causation } from '../reactions/tools.ts'
import { webhookJobHandlers } from '../reactions/webhook-job-handlers.ts'
import { webhookOutbox } from '../reactions/webhook-outbox.ts'
import type { Claimant } from '../runtime/ownership/claims.ts'
import { createEffects, type Effects } from '../runtime/reactions/effects.ts'
import { readUpcast, type Upcasts } from '../runtime/upcasts.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'
import { upcasts as registered } from './registry.ts'
import { systemRandom } from './system.ts'

/** Every reaction. */
export const reactions: readonly AnyReaction<NumberTools>[] = [
  callFlow,
  auctionFlow,
  numberOrders,
  renewals,
  webhookOutbox,
  leaseFlow,
]

/** Handlers of scheduled jobs, over the jobs of every context. */
export const jobHandlers = jobHandlersOf([
  callJobHandlers,
  auctionJobHandlers,
  numberJobHandlers,
  webhookJobHandlers,
  leaseJobHandlers,
])

/** What calls and reactions know of visitors' leases. */
export interface LeaseTools {
  readonly leaseOf: LeaseOfCall
  readonly ends: LeaseEnds
}

/** Of a system that leases no numbers. */
const NO_LEASES: LeaseTools = {
  leaseOf: async () => null,
  ends: { endExpired: async () => null, endEarly: async () => undefined },
}

/** Runs commands from requests, the carrier and timers, each with the effects of its events. */
export interface PlatformEffects extends Effects<NumberTools> {
  /** Handles a carrier notice; resolves when its events are durable. @throws CallNotBegun */
  readonly handleCarrierNotice: (notice: CarrierNotice) => Promise<void>
  /** Runs a due job by the handler of its kind. Resolves to the instant (ms) at which it is due again, if its handler knows one. */
  readonly runScheduledJob: (kind: string, workspaceId: string, job: ScheduledJob) => Promise<unknown>
}

/** A notice arrived before the event that it depends on was recorded; the carrier must send it again. */
class CallNotBegun extends Error {
  override readonly name = 'CallNotBegun'
}

/** Refusals of notices that arrived before the event that they depend on. */
const OVERTAKING: ReadonlySet<string> = new Set(['call-not-found', 'call-not-answered'])

const CARRIER: Actor = { type: 'carrier', id: null, name: 'Carrier' }
const SYSTEM: Actor = { type: 'system', id: null, name: 'Ringledger' }

/** The use of a routing key by a call that has just been routed; null where it carried none that works. */
async function routingKeyUse(
  writer: Pick<StreamWriter, 'stateOf'>,
  workspaceId: string,
  events: readonly RecordedEvent[],
): Promise<RoutingKeyUse | null> {
  const decided = dataOf(ledgerEvents, events, 'CallAdmitted') ?? dataOf(ledgerEvents, events, 'CallRefused')
  const keyHash = decided?.inputs.routingKeyHash ?? null
  if (!decided || keyHash === null) return null
  const at = decided.arrival.occurredAt
  const key = routingKeyOf(await writer.stateOf(workspace, workspaceId), keyHash, at)
  return key ? { workspaceId, keyId: key.id, at } : null
}

/** Wires the effects to the reactions, the carrier and the configuration. */
export function createPlatformEffects(options: {
  readonly writer: StreamWriter
  readonly log: Pick<EventLog, 'read'>
  /** How older events are lifted; those of the registry by default. */
  readonly upcasts?: Upcasts
  readonly carrier: () => Carrier
  /** Bidders, and the offers that publishers won. */
  readonly auctions: AuctionPorts
  /** Visitors' leases; none by default. */
  readonly leases?: LeaseTools
  readonly deliveries: DeliveryStore
  readonly clock: Clock
  readonly claims: Claimant
  readonly onFailure: (event: RecordedEvent, error: unknown) => void
  /** Receives each use of a routing key by a call. */
  readonly onRoutingKeyUse?: (use: RoutingKeyUse) => void
}): PlatformEffects {
  const {
    writer,
    log,
    upcasts = registered,
    carrier,
    auctions,
    leases = NO_LEASES,
    deliveries,
    onRoutingKeyUse = () => undefined,
    ...rest
  } = options
  const { askBidders, offers } = auctions
  const inOrder = createKeyedMutex()
  const effects = createEffects<NumberTools>({
    ...rest,
    writer,
    reactions,
    newCommandId: systemRandom.ulid,
    actor: SYSTEM,
    toolsOf: (base) => ({
      ...base,
      get carrier() {
        return carrier()
      },
      ...auctions,
      auctionOf: (workspaceId, auctionId) => writer.stateOf(auction, auctionId, workspaceId),
      configuration: (workspaceId) => writer.stateOf(workspace, workspaceId),
      recentConfiguration: (workspaceId) => writer.recentStateOf(workspace, workspaceId, WEBHOOK.foldAgeMs),
      read: readUpcast(log.read, upcasts),
      inOrder,
      deliveries,
      leaseEnds: leases.ends,
    }),
  })
  /** The offer of an auction and the visitor's lease that a call may claim, on a configuration as old as that which pings are judged on. */
  async function claimsOf({
    workspaceId,
    to,
    from: caller,
    at,
  }: Extract<CarrierNotice, { readonly type: 'call-arrived' }>) {
    const configured = await writer.recentStateOf(workspace, workspaceId, PING.foldAgeMs)
    const [offer, lease] = await Promise.all([
      offers.offerFor(workspaceId, configured, { to, caller, at }),
      leases.leaseOf(workspaceId, { to, at }),
    ])
    return { ...(offer && { offer }), ...(lease && { lease }) }
  }

  return {
    ...effects,
    async handleCarrierNotice(notice) {
      const { command, input: noticed } = commandFor(notice, secretHash)
      const { workspaceId, callId } = notice
      const input = { ...noticed, ...(notice.type === 'call-arrived' && (await claimsOf(notice))) }
      const context = {
        workspaceId,
        actor: CARRIER,
        commandId: systemRandom.ulid(),
        correlationId: callId,
        causationId: null,
        surface: CARRIER.type,
        ip: null,
      }
      const outcome = await decideWithBids(
        (question) => askBidders(workspaceId, question),
        (bids, seed) =>
          effects.handle(command, { ...input, ...bidsField(bids), ...(seed !== null && { seed }) }, context),
      )
      // The error makes the carrier send the notice again; without it the notice would be lost.
      if (isRefusal(outcome) && OVERTAKING.has(outcome.refused)) throw new CallNotBegun(callId)
      if (isRefusal(outcome)) return
      // The notice is done: a use that cannot be counted is lost rather than the notice sent again.
      const use = await routingKeyUse(writer, workspaceId, outcome.events).catch(() => null)
      if (use) onRoutingKeyUse(use)
    },
    async runScheduledJob(kind, workspaceId, job) {
      const cause: Causation = { meta: { workspaceId, correlationId: job.subjectId, eventId: null } }
      return jobHandlers[kind]?.run(effects.tools, job, cause)
    },
  }
}
