import { COMMAND_PATIENCE_MS, has, type Known, ms, was } from './dialing.ts'
import { forwardLeg, type Leg, type Release, type Session } from './session.ts'
import { type Step, step } from './step.ts'

/** How long (ms) after its beginning a message may last. */
const MESSAGE_PATIENCE_MS = 90_000

/** Whether a leg is there, and nobody has hung it up. */
export const isUp = (session: Session, { id, ended }: Leg) => ended === null && !has(session, `hangup:${id}`)

export const hangup = ({ id }: Pick<Leg, 'id'>): Step => step(`hangup:${id}`, { do: 'hangup', leg: id })

/** The caller is answered before anything can be done with them. */
export function answers({ session, caller }: Known): Step | null {
  return has(session, 'answer') ? null : step('answer', { do: 'answer', leg: caller.id })
}

/** The attempt in which the caller was given a ringing tone that has not been ended. */
export function ringingSince({ session }: Known): number | null {
  const rings = ({ attempt }: { readonly attempt: number }) =>
    was(session, `ringback:${attempt}`, 'done') && !has(session, `quiet:${attempt}`)
  return session.dials.find(rings)?.attempt ?? null
}

/** Ends the ringing tone that the caller hears, where there is one. */
export function quiets(known: Known): Step | null {
  const attempt = ringingSince(known)
  return attempt === null ? null : step(`quiet:${attempt}`, { do: 'quiet', leg: known.caller.id })
}

function hangsUp({ session, caller }: Known): Step | null {
  if (has(session, 'answer')) return isUp(session, caller) ? hangup(caller) : null
  return has(session, 'reject') ? null : step('reject', { do: 'reject', leg: caller.id })
}

/** How long (ms) after a command what it leads to may be on its way: the answer of the caller's leg, the end of a message. */
const PATIENCE_MS: Readonly<Record<string, number>> = { answer: COMMAND_PATIENCE_MS, message: MESSAGE_PATIENCE_MS }

/** When the patience with a command's consequence ends (ms); null for one that was not done. */
function overAt({ session }: Known, name: string): number | null {
  const taken = session.taken[name]
  return taken ? ms(taken.at) + (PATIENCE_MS[name] ?? 0) : null
}

function isOver(known: Known, name: string): boolean {
  const at = overAt(known, name)
  return at !== null && known.now >= at
}

/** Whether the caller hears what is said to them; where nothing tells so in time, it is taken for granted. */
const isHeard = (known: Known) => known.caller.answeredAt !== null || isOver(known, 'answer')

/** When a caller whom the platform lets go of is to be looked at again (ms), though nothing is heard of them. */
export function releaseLooks(known: Known): readonly number[] {
  if (known.session.releases.length === 0) return []
  return Object.keys(PATIENCE_MS).flatMap((name) => overAt(known, name) ?? [])
}

/** What is done with a caller whom the platform lets go of, by the action. */
const RELEASES: {
  readonly [Kind in Release['action']['kind']]: (
    known: Known,
    action: Extract<Release['action'], { readonly kind: Kind }>,
  ) => Step | null
} = {
  hangup: (known) => {
    const dialed = known.session.legs.find((leg) => leg.purpose !== 'caller' && isUp(known.session, leg))
    return dialed ? hangup(dialed) : hangsUp(known)
  },
  message: (known, { text }) => {
    const { session, caller } = known
    if (!has(session, 'answer') || !isHeard(known)) return answers(known)
    if (!has(session, 'message')) return quiets(known) ?? step('message', { do: 'speak', leg: caller.id, text })
    const speaks = was(session, 'message', 'done') && caller.spokenAt === null && !isOver(known, 'message')
    return speaks ? null : hangsUp(known)
  },
  forward: (known, { e164: to }) => {
    const { session, caller } = known
    if (!has(session, 'answer') || !isHeard(known)) return answers(known)
    if (!has(session, 'forward')) return quiets(known) ?? step('forward', { do: 'transfer', caller, to })
    return was(session, 'forward', 'done') && !forwardLeg(session)?.ended ? null : hangsUp(known)
  },
}

/** What is done next with a caller whom the platform lets go of; null when it does not, or nothing is left to do. */
export function releases(known: Known): Step | null {
  const release = known.session.releases.at(-1)
  const next = release && (RELEASES[release.action.kind] as (known: Known, action: Release['action']) => Step | null)
  return next ? next(known, release.action) : null
}
