/** Audio format of a recording. */
export type AudioFormat = 'mp3' | 'wav'

/** A saved recording whose bytes can be read. */
export interface SavedAudio {
  /** Length of the whole recording, in bytes. */
  readonly bytes: number
  /** Streams the bytes from `first` to `last` (from 0, inclusive). @throws CarrierUnavailable */
  readonly read: (first: number, last: number) => AsyncIterable<Uint8Array>
}

/** Recordings stored by the carrier. */
export interface CarrierRecordings {
  /**
   * Opens a recording by the carrier's own ids; null when the carrier no longer has it. The signal ends all reads.
   * @throws CarrierRefused, CarrierUnavailable
   */
  readonly open: (
    recording: { readonly carrierCallId: string; readonly carrierRecordingId: string; readonly format: AudioFormat },
    signal: AbortSignal,
  ) => Promise<SavedAudio | null>
}
