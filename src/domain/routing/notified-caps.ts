import { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { cents, id, instant } from '../../kernel/wire.ts'
import { CAP_SCOPES, CAP_WINDOWS } from '../shared/cap-names.ts'
import { named } from '../shared/fields.ts'
import { isRetained, windowsOf } from '../shared/windows.ts'

/** The windows of caps, as `target.capped` names them (Document 2, Event details). */
export const capWindow = z.enum(CAP_WINDOWS)
export type CapWindow = z.infer<typeof capWindow>
export const capScope = z.enum(CAP_SCOPES)
export type CapScope = z.infer<typeof capScope>

/** A target or its buyer reached a cap with this call (Document 2, `target.capped`). */
export const targetCapped = z.object({
  callId: id,
  occurredAt: instant,
  scope: capScope,
  window: capWindow,
  /** Instant in whose window the cap is reached: that of the dial for calls, of the settlement for revenue. */
  countedAt: instant,
  figures: z.union([z.object({ cap: z.int(), count: z.int() }), z.object({ capCents: z.int(), cents: cents })]),
  target: named,
  externalRef: z.string().nullable(),
  buyer: named,
})
export type TargetCapped = Readonly<z.infer<typeof targetCapped>>

/** Caps that were notified as reached, by window and window name: the cap as it was then. */
export type NotifiedCaps = PersistentMap<string, number>

/** No cap notified. */
export const NO_NOTIFIED_CAPS: NotifiedCaps = PersistentMap()

const WINDOW_NAMES: Readonly<Record<CapWindow, (at: string) => string>> = {
  hourly: (at) => windowsOf(at).hour,
  daily: (at) => windowsOf(at).day,
  monthly: (at) => windowsOf(at).month,
  lifetime: () => '',
  'daily revenue': (at) => windowsOf(at).day,
}

const keyOf = (window: CapWindow, at: string) => `${window}/${WINDOW_NAMES[window](at)}`

/** The cap that was notified as reached in the window of an instant; null when none was. */
export function notifiedCap(notified: NotifiedCaps | undefined, window: CapWindow, at: string): number | null {
  return notified?.get(keyOf(window, at)) ?? null
}

/** Notified caps with one more; windows past their retention at `now` are dropped. */
export function addNotifiedCap(
  notified: NotifiedCaps,
  { window, countedAt, figures }: TargetCapped,
  now: string,
): NotifiedCaps {
  const isInRetention = (key: string) => {
    const [, name = ''] = key.split('/')
    return name === '' || isRetained(name, now)
  }
  const cap = 'cap' in figures ? figures.cap : figures.capCents
  return notified.filter((_cap, key) => isInRetention(key)).set(keyOf(window, countedAt), cap)
}
