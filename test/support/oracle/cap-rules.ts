import { type WorkspaceState, workspace } from '../../../src/domain/configuration/workspace.ts'
import { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import { laneId } from '../../../src/domain/supply/lane.ts'
import { streamOf } from '../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { emptyFold, foldEvents } from '../../../src/runtime/write/fold.ts'
import type { SubjectKind } from './call-slots.ts'
import type { Rule } from './rule.ts'
import { createSlotBook } from './slot-book.ts'
import { type CapUse, type Limits, usedCaps } from './slots.ts'

const admitted = ledgerEvents.CallAdmitted.pick({ arrival: true, claim: true })
const claimed = ledgerEvents.TargetClaimed.pick({ callId: true, claim: true })

const sentenceOf = (subject: string, { cap, limit, used, window }: CapUse): string =>
  cap === 'concurrencyCap'
    ? `${subject} had ${used} calls at once, over ${limit}`
    : `${subject} took ${used} calls in ${window || 'all'}, over its ${cap} ${limit}`

/** Caps that count calls: revenue may pass its cap with the last call that is taken. */
const HARD_CAPS = ['hourlyCap', 'dailyCap', 'monthlyCap', 'totalCap', 'concurrencyCap'] as const

/** No admission, no claim and no accepted post exceeds a cap of the configuration that was read for it, nor goes to what was paused in it. */
export function capRule(): Rule {
  const book = createSlotBook()
  /** The configuration by revision of the workspace's stream. */
  const states: WorkspaceState[] = []
  let fold = emptyFold(workspace)

  const exceeded = (kind: SubjectKind, id: string, limits: Limits, at: string) =>
    usedCaps(book.slotsOf(kind, id), limits, at, { caps: HARD_CAPS })
      .filter(({ used, limit }) => used > limit)
      .map((use) => sentenceOf(`${kind} ${id}`, use))

  function configurationOf({ meta }: RecordedEvent): WorkspaceState | undefined {
    return states[meta.reads?.[streamOf(workspace, meta.workspaceId ?? '')] ?? -1]
  }

  function judgeClaim(event: RecordedEvent, callId: string): readonly string[] {
    const claim = book.dialOf(callId)?.claim
    if (!claim) return []
    const {
      target: { id: targetId },
      buyer: { id: buyerId },
      occurredAt,
    } = claim
    const configuration = configurationOf(event)
    const [target, buyer] = [configuration?.targets.get(targetId), configuration?.buyers.get(buyerId)]
    if (!target || !buyer) return [`${callId} claimed a target that did not exist`]
    const paused = target.status !== 'active' || buyer.status !== 'active'
    return [
      ...(paused ? [`${callId} claimed target ${targetId} though it or its buyer was paused`] : []),
      ...exceeded('target', targetId, target, occurredAt),
      ...exceeded('buyer', buyerId, buyer, occurredAt),
    ]
  }

  function judgeAdmission(event: RecordedEvent): readonly string[] {
    const { arrival, claim } = admitted.parse(event.data)
    const campaignId = arrival.campaign?.id ?? ''
    const campaign = configurationOf(event)?.campaigns.get(campaignId)
    if (!campaign) return [`${arrival.callId} was admitted by a campaign that did not exist`]
    const passed = exceeded('campaign', campaignId, campaign, arrival.occurredAt)
    return claim ? [...passed, ...judgeClaim(event, arrival.callId)] : passed
  }

  /** A post takes a slot of every cap, of its lane's too where that refuses pings over its caps. */
  function judgeReservation(event: RecordedEvent): readonly string[] {
    const { auctionId, campaignId, publisherId, laneKeyId, targetId, buyerId, occurredAt } =
      ledgerEvents.OfferReserved.parse(event.data)
    const configuration = configurationOf(event)
    const lane = configuration?.lanes.get(laneId(campaignId, publisherId))
    const campaign = configuration?.campaigns.get(campaignId)
    const [target, buyer] = [configuration?.targets.get(targetId), configuration?.buyers.get(buyerId)]
    if (!lane || !campaign || !target || !buyer) return [`${auctionId} was posted on what did not exist`]
    const laneKey = [campaignId, publisherId, ...(laneKeyId ? [laneKeyId] : [])].join(':')
    const paused = [target, buyer].some(({ status }) => status !== 'active') || campaign.status !== 'live'
    return [
      ...(paused || !lane.active ? [`${auctionId} was posted though its target, campaign or lane was paused`] : []),
      ...exceeded('campaign', campaignId, campaign, occurredAt),
      ...(lane.blockWhenCapped ? exceeded('lane', laneKey, lane, occurredAt) : []),
      ...exceeded('target', targetId, target, occurredAt),
      ...exceeded('buyer', buyerId, buyer, occurredAt),
    ]
  }

  return {
    see(event) {
      if (event.type in workspace.events) {
        fold = foldEvents(workspace, fold, [event])
        states[event.revision] = fold.state
      }
      book.apply(event)
      if (event.type === 'OfferReserved') return judgeReservation(event)
      if (event.type === 'CallAdmitted') return judgeAdmission(event)
      return event.type === 'TargetClaimed' ? judgeClaim(event, claimed.parse(event.data).callId) : []
    },
  }
}
