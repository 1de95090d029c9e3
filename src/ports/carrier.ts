import type { CarrierNumbers } from './carrier-numbers.ts'
import type { AudioFormat, CarrierRecordings } from './carrier-recordings.ts'

/** The dial of one attempt. */
export interface DialCommand {
  /** Id of the event that decided the dial; makes the command idempotent at the carrier. */
  readonly commandId: string
  readonly workspaceId: string
  readonly callId: string
  readonly carrierCallId: string
  readonly attempt: number
  readonly targetId: string
  /** E.164 or sip: address. */
  readonly destination: string
  readonly callerId: string | null
  readonly ringSeconds: number
  readonly whisper: { readonly text: string; readonly acceptDigit: string | null } | null
  readonly record: boolean
  /** When the decision to dial was made, on the carrier's clock (ISO). */
  readonly at: string
}

/** Releases a call that was not connected or that the platform ends: hang up, play a message, or forward. */
export interface ReleaseCommand {
  readonly commandId: string
  readonly workspaceId: string
  readonly callId: string
  readonly carrierCallId: string
  readonly action:
    | { readonly kind: 'hangup' }
    | { readonly kind: 'message'; readonly text: string }
    | { readonly kind: 'forward'; readonly e164: string }
  readonly at: string
}

/** How a dial ended without an answer. */
export type CarrierDialOutcome = 'no_answer' | 'busy' | 'rejected' | 'failed' | 'abandoned'

/** A notice of the carrier. Notices may be repeated, late or out of order; `at` is the carrier's own instant (ISO). */
export type CarrierNotice =
  | {
      readonly type: 'call-arrived'
      readonly workspaceId: string
      readonly callId: string
      readonly carrierCallId: string
      readonly to: string
      /** E.164; null when the caller hid it. */
      readonly from: string | null
      readonly sipHeaders: Readonly<Record<string, string>>
      /** Seed of the routing plan, from a carrier that ran the call dry; otherwise the seed is drawn when the call is routed. */
      readonly seed?: number | null
      readonly at: string
    }
  | {
      readonly type: 'dial-answered'
      readonly workspaceId: string
      readonly callId: string
      readonly attempt: number
      readonly whisperAccepted: boolean | null
      readonly at: string
    }
  | {
      readonly type: 'dial-failed'
      readonly workspaceId: string
      readonly callId: string
      readonly attempt: number
      readonly outcome: CarrierDialOutcome
      readonly sipCode: number | null
      readonly retryAfterSeconds: number | null
      readonly whisperAccepted: boolean | null
      readonly at: string
    }
  | {
      readonly type: 'call-ended'
      readonly workspaceId: string
      readonly callId: string
      readonly hungUpBy: 'caller' | 'agent' | 'platform' | 'unknown'
      readonly recorded: boolean
      readonly at: string
    }
  | {
      readonly type: 'recording-saved'
      readonly workspaceId: string
      readonly callId: string
      /** The carrier's own id of the recording; repeated notices have the same. */
      readonly carrierRecordingId: string
      readonly format: AudioFormat
      readonly channels: number
      readonly durationSeconds: number
      /** When the carrier deletes it. */
      readonly expiresAt: string
      readonly at: string
    }

/** Processes a notice; resolves when its events are durable. Rejects when the carrier must send it again. */
export type NoticeListener = (notice: CarrierNotice) => Promise<void>

/** A test dial without a caller; hung up as soon as it is answered. */
export type ProbeCommand = Pick<
  DialCommand,
  'commandId' | 'workspaceId' | 'targetId' | 'destination' | 'callerId' | 'ringSeconds'
>

/** Result of a probe, and its duration (ms) by the carrier's clock. */
export interface ProbeResult {
  readonly outcome: 'answered' | Exclude<CarrierDialOutcome, 'abandoned'>
  readonly sipCode: number | null
  readonly ms: number
}

/** The telephone carrier. A command is idempotent by its `commandId`, and resolves when the adapter has accepted it. */
export interface Carrier {
  readonly name: string
  /** Dials a target. @throws LogUnavailable, StoreUnavailable when the adapter cannot store the command */
  dial(command: DialCommand): Promise<void>
  /** Releases a call. @throws LogUnavailable, StoreUnavailable when the adapter cannot store the command */
  release(command: ReleaseCommand): Promise<void>
  /** Dials to test whether a destination answers; belongs to no call. Resolves when the ringing ends. */
  probe(command: ProbeCommand): Promise<ProbeResult>
  /** Renting numbers; null when ordering is not configured. */
  readonly numbers: CarrierNumbers | null
  readonly recordings: CarrierRecordings
  /** Closes connections and stops background work. */
  close(): Promise<void>
}
