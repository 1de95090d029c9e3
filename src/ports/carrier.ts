import type { CarrierNumbers } from './carrier-numbers.ts'
import type { AudioFormat, CarrierRecordings } from './carrier-recordings.ts'

/** What the carrier is told to dial for one attempt. */
export interface DialCommand {
  /** The id of the event that decided it: the carrier does a command once, however often it is sent. */
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

/** What the carrier is told to do with a caller who reached nobody, or whom the platform ends. */
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

/** How one dial ended without an answer. */
export type DialOutcome = 'no_answer' | 'busy' | 'rejected' | 'failed' | 'abandoned'

/** What the carrier tells. Every notice may come twice, late, or out of order; `at` is the carrier's own instant (ISO). */
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
      /** What the plan is drawn by, from a carrier that has rehearsed the call; elsewhere it is drawn as the call is routed. */
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
      readonly outcome: DialOutcome
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
      /** The carrier's own id of the recording: one that is told twice is one. */
      readonly carrierRecordingId: string
      readonly format: AudioFormat
      readonly channels: number
      readonly durationSeconds: number
      /** Until when the carrier holds it. */
      readonly expiresAt: string
      readonly at: string
    }

/** Takes a notice; resolves when what it led to is durable. */
export type NoticeListener = (notice: CarrierNotice) => Promise<void>

/** A dial with no caller attached: nobody is put through, and it is hung up as soon as it is answered. */
export type ProbeCommand = Pick<
  DialCommand,
  'commandId' | 'workspaceId' | 'targetId' | 'destination' | 'callerId' | 'ringSeconds'
>

/** How a probe ended, and after how many milliseconds on the carrier's own clock. */
export interface ProbeResult {
  readonly outcome: 'answered' | Exclude<DialOutcome, 'abandoned'>
  readonly sipCode: number | null
  readonly ms: number
}

/** The telephone company. Commands are done once for each `commandId`, and answer when the carrier has taken them. */
export interface Carrier {
  readonly name: string
  dial(command: DialCommand): Promise<void>
  release(command: ReleaseCommand): Promise<void>
  /** Dials to see whether anybody answers; belongs to no call. Resolves with the end of the ringing. */
  probe(command: ProbeCommand): Promise<ProbeResult>
  /** Renting numbers; null where ordering is not configured. */
  readonly numbers: CarrierNumbers | null
  readonly recordings: CarrierRecordings
  close(): Promise<void>
}
