/** How a recording is stored. */
export type AudioFormat = 'mp3' | 'wav'

/** A saved recording whose bytes can be read. */
export interface SavedAudio {
  /** Length of the whole. */
  readonly bytes: number
  /** The bytes from the first to the last, counted from 0, both included, as they are consumed. @throws CarrierUnavailable */
  readonly read: (first: number, last: number) => AsyncIterable<Uint8Array>
}

/** Recordings that the carrier holds. */
export interface CarrierRecordings {
  /**
   * Finds a recording by the carrier's own ids; null when the carrier has it no more. What reads it ends with the signal.
   * @throws CarrierRefused, CarrierUnavailable
   */
  readonly open: (
    recording: { readonly carrierCallId: string; readonly carrierRecordingId: string; readonly format: AudioFormat },
    signal: AbortSignal,
  ) => Promise<SavedAudio | null>
}
