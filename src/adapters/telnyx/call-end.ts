import type { CarrierNotice } from '../../ports/carrier.ts'
import { callerLeg, dialLeg, isBridged, type Leg, type Session } from './session.ts'

type HungUpBy = Extract<CarrierNotice, { type: 'call-ended' }>['hungUpBy']

/** How and when a call ended. */
export interface CallEnd {
  readonly at: string
  readonly hungUpBy: HungUpBy
}

/** Milliseconds after a command found its leg gone during which the webhook of the leg's end may still arrive. */
export const GONE_GRACE_MS = 30_000

/** The leg that the caller was connected to; null when there is none. */
function bridgedLeg(session: Session): Leg | null {
  const dial = session.dials.findLast(({ attempt }) => isBridged(session, attempt))
  return dial ? dialLeg(session, dial.attempt) : null
}

const RELEASED: Readonly<Record<NonNullable<Leg['ended']>['source'], HungUpBy>> = {
  caller: 'caller',
  callee: 'platform',
  unknown: 'platform',
}
const BRIDGED: typeof RELEASED = { caller: 'caller', callee: 'agent', unknown: 'unknown' }
const WAITING: typeof RELEASED = { caller: 'caller', callee: 'platform', unknown: 'unknown' }

/** When a command found the caller's leg gone; null while none has. */
export function goneAt(session: Session): string | null {
  const caller = callerLeg(session)
  const names = ['answer', 'reject', 'message', 'forward', `hangup:${caller?.id}`]
  const gone = names.map((name) => session.completed[name]).filter((one) => one?.outcome === 'gone')
  return gone[0]?.at ?? null
}

/**
 * How a call ended; null while it lasts. It ends with the first of its two sides. When a command found the caller's leg
 * gone and no webhook of its end arrived in time, the call ended then.
 */
export function callEnd(session: Session, now: number): CallEnd | null {
  const [caller, bridged] = [callerLeg(session), bridgedLeg(session)]
  const released = session.releases.length > 0
  const ends: readonly CallEnd[] = [
    caller?.ended && {
      at: caller.ended.at,
      hungUpBy: (released ? RELEASED : bridged ? BRIDGED : WAITING)[caller.ended.source],
    },
    bridged?.ended && { at: bridged.ended.at, hungUpBy: (released ? RELEASED : BRIDGED)[bridged.ended.source] },
  ].flatMap((end) => end ?? [])
  const gone = goneAt(session)
  if (ends.length === 0 && gone !== null && now >= Date.parse(gone) + GONE_GRACE_MS)
    return { at: gone, hungUpBy: 'unknown' }
  return ends.toSorted((one, other) => (one.at < other.at ? -1 : 1))[0] ?? null
}
