import type { RecordedEvent } from '../kernel/event.ts'

/** An event as a check of the log finds it: damage is told, not thrown. */
export interface CheckedEvent {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly type: string
  /** Null where it cannot be read. */
  readonly event: RecordedEvent | null
  /** What is wrong with its stored form, as the rest of a sentence after its name; null for nothing. */
  readonly problem: string | null
  /** Whether it is stored with a checksum of ours. */
  readonly hasChecksum: boolean
}

/** A page of the log, as `LogPage`. */
export interface CheckedPage {
  readonly events: readonly CheckedEvent[]
  readonly position: number
  readonly end: boolean
}

/** Reads a log for a check of all that it holds. Every method but `close` throws LogUnavailable. */
export interface LogVerifier {
  /** Whether the store of the log keeps checksums of its own, and checks them. */
  readonly storeHasChecksums: boolean
  /** Position of the newest event; START when there is none. */
  head(): Promise<number>
  /** Events after a position (exclusive), in order, at most `limit`. */
  read(after: number, limit: number): Promise<CheckedPage>
  close(): Promise<void>
}
