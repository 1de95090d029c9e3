import { centsByDay, inWindows, isCounted, type Slot } from '../oracle/slots.ts'
import { heldSlots } from './offers.ts'
import { type CallModel, type ClaimModel, dayOf, iso, type Model } from './state.ts'

/** What is counted: a target's or a buyer's dials, a campaign's or a lane's admissions. */
export interface Subject {
  readonly kind: 'target' | 'buyer' | 'campaign' | 'lane'
  readonly name: string
}

const isOn = ({ kind, name }: Subject, call: CallModel) =>
  kind === 'campaign' ? call.campaign === name : `${call.campaign}/${call.publisher}` === name

const isFor = ({ kind, name }: Subject, claim: ClaimModel) => (kind === 'target' ? claim.target : claim.buyer) === name

const STATES: Readonly<Record<ClaimModel['outcome'], Slot['state']>> = {
  ringing: 'held',
  answered: 'connected',
  abandoned: 'freed',
  no_answer: 'freed',
  busy: 'freed',
  rejected: 'freed',
  failed: 'freed',
}

function slotOfDial(call: CallModel, claim: ClaimModel, kind: Subject['kind']): Slot {
  const sold = claim.outcome === 'answered'
  return {
    at: iso(claim.at),
    countsOn: claim.countsOn,
    state: STATES[claim.outcome],
    live: call.end === null && (claim.outcome === 'ringing' || sold),
    settledAt: sold && call.settledAt !== null ? iso(call.settledAt) : null,
    converted: call.converted,
    cents: call.revenueCents,
    capsReset: kind === 'target' && claim.capsReset,
  }
}

/** A call that was refused takes no slot, but its books count: a person may give it a payout. */
function slotOfArrival(call: CallModel, kind: Subject['kind']): Slot {
  return {
    at: iso(call.at),
    countsOn: call.admitted ? 'admitted' : 'connected',
    state: call.admitted ? 'connected' : 'freed',
    live: call.admitted && call.end === null,
    settledAt: kind === 'lane' && call.settledAt !== null ? iso(call.settledAt) : null,
    converted: call.converted,
    cents: call.payoutCents,
    capsReset: false,
  }
}

/** The slots of a subject, from all calls. */
export function callSlotsOf({ calls }: Model, subject: Subject): readonly Slot[] {
  const { kind } = subject
  return calls.flatMap((call) => {
    if (kind === 'campaign' || kind === 'lane') return isOn(subject, call) ? [slotOfArrival(call, kind)] : []
    return call.claims.filter((claim) => isFor(subject, claim)).map((claim) => slotOfDial(call, claim, kind))
  })
}

/** The slots of a subject, from all calls and accepted posts. */
export function slotsOf(model: Model, subject: Subject): readonly Slot[] {
  const [ofCalls, held] = [callSlotsOf(model, subject), heldSlots(model, subject.kind, subject.name)]
  return held.length === 0 ? ofCalls : [...ofCalls, ...held]
}

/** Calls that count in the present hour, day and month and in all, and the cents of the present day. */
export function usageOf(model: Model, subject: Subject) {
  const slots = slotsOf(model, subject)
  const counted = inWindows(
    slots.filter((slot) => isCounted(slot)),
    iso(model.now),
  )
  return { ...counted, dayCents: centsByDay(slots).get(dayOf(model.now)) ?? 0 }
}
