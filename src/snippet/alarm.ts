/** Something that is due at an instant, and is done only while the page is seen. */
export interface Alarm {
  /** Sets it anew, in seconds from now; `Infinity` for never. */
  readonly set: (seconds: number) => void
  /** Rings once if it is due and the page is visible. */
  readonly look: () => void
}

/** An alarm that is due at once. */
export function createAlarm(ring: () => void): Alarm {
  let due = 0
  let timer: ReturnType<typeof setTimeout>

  function set(seconds: number): void {
    clearTimeout(timer)
    due = Date.now() + seconds * 1_000
    if (seconds < Infinity) timer = setTimeout(look, seconds * 1_000)
  }
  function look(): void {
    if (document.visibilityState === 'hidden' || due === Infinity) return
    const wait = due - Date.now()
    if (wait > 0) set(wait / 1_000)
    else {
      due = Infinity
      ring()
    }
  }
  return { set, look }
}
