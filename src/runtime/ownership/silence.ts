/** At most so much of the time between two looks counts as silence (ms): nobody looked in between. */
const MAX_STEP_MS = 1_000

/** For how long, by this process's own clock, others have shown no sign of life. */
export interface SilenceTracker {
  /** Records the beats of all owners, as just read. */
  readonly look: (beats: ReadonlyMap<string, number>, now: number) => void
  /** Silence of an owner (ms): 0 where its beat has just moved, infinite where it has none. */
  readonly silenceOf: (owner: string) => number
}

interface Heard {
  readonly beat: number
  readonly silentMs: number
}

/**
 * Creates a tracker. Instants of other machines play no part: only whether a beat moves between two looks. Time without a
 * look counts for little, so that a process that slept, or whose clock jumped, declares nobody dead.
 */
export function createSilenceTracker(): SilenceTracker {
  let heard: ReadonlyMap<string, Heard> = new Map()
  let lookedAt: number | null = null
  return {
    look(beats, now) {
      const step = lookedAt === null ? 0 : Math.min(Math.max(0, now - lookedAt), MAX_STEP_MS)
      lookedAt = now
      const before = heard
      heard = new Map(
        [...beats].map(([owner, beat]) => {
          const known = before.get(owner)
          return [owner, { beat, silentMs: known?.beat === beat ? known.silentMs + step : 0 }]
        }),
      )
    },
    silenceOf: (owner) => heard.get(owner)?.silentMs ?? Number.POSITIVE_INFINITY,
  }
}
