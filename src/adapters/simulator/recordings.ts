import { addMs } from '../../kernel/instant.ts'
import type { CarrierRecordings } from '../../ports/carrier-recordings.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SimulatedCallState } from './simulated-call.ts'
import { wav, wavBytes } from './tone.ts'

/** Days for which the simulated carrier keeps a recording. */
const RETENTION_DAYS = 30
const DAY_MS = 86_400_000
/** Maximum length of a recording. */
const LONGEST_MS = 3_600_000

/** A recording of the simulated carrier. */
export interface SimulatedRecording {
  readonly carrierRecordingId: string
  readonly ms: number
  readonly savedAt: string
  readonly expiresAt: string
}

/** The recording of a call; null when none was requested or the talk has no length. */
export function simulatedRecordingOf({ placed, dials, ends }: SimulatedCallState): SimulatedRecording | null {
  const dial = dials.find(({ answered, record }) => answered && record)
  if (!placed || !dial || !ends) return null
  const ms = Date.parse(ends.at) - Date.parse(dial.resultAt)
  if (ms <= 0) return null
  return {
    carrierRecordingId: `rec_${placed.carrierCallId}`,
    ms: Math.min(ms, LONGEST_MS),
    savedAt: ends.at,
    expiresAt: addMs(ends.at, RETENTION_DAYS * DAY_MS),
  }
}

/** The recordings of simulated calls: a tone as long as the talk, generated while it is read. */
export function createSimulatedRecordings(
  clock: Clock,
  stateOf: (carrierCallId: string) => Promise<SimulatedCallState>,
): CarrierRecordings {
  return {
    async open({ carrierCallId, carrierRecordingId }) {
      const recording = simulatedRecordingOf(await stateOf(carrierCallId))
      if (recording?.carrierRecordingId !== carrierRecordingId) return null
      if (Date.parse(recording.expiresAt) <= clock.now()) return null
      const { ms } = recording
      return { bytes: wavBytes(ms), read: (first, last) => wav(ms, first, last) }
    },
  }
}
