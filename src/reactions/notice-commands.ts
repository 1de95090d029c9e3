import { endCall } from '../../commands/calls/end-call.ts'
import { recordAnswer } from '../../commands/calls/record-answer.ts'
import { recordFailure } from '../../commands/calls/record-failure.ts'
import { saveRecording } from '../../commands/calls/save-recording.ts'
import { routeCall } from '../../commands/routing/route-call.ts'
import { routingKeyIn } from '../domain/routing/sender.ts'
import type { AnyCommand } from '../kernel/command.ts'
import type { CarrierNotice } from '../ports/carrier.ts'

/** Notices by type. */
type Notices = { readonly [Notice in CarrierNotice as Notice['type']]: Notice }

/** Hashes a secret for look-up. */
type Digest = (secret: string) => string

interface NoticeCommand {
  readonly command: AnyCommand
  readonly input: Readonly<Record<string, unknown>>
}

const COMMANDS: { readonly [Type in keyof Notices]: (notice: Notices[Type], digest: Digest) => NoticeCommand } = {
  'call-arrived': ({ callId, carrierCallId, to, from, sipHeaders, seed = null, at }, digest) => {
    const key = routingKeyIn(sipHeaders)
    const routingKeyHash = key && digest(key)
    const arrival = { callId, carrierCallId, to, caller: from, routingKeyHash, seed, occurredAt: at }
    const input = { ...arrival, judgesHeldBack: true }
    return { command: routeCall, input }
  },
  'dial-answered': ({ callId, attempt, whisperAccepted, at }) => ({
    command: recordAnswer,
    input: { callId, attempt, whisperAccepted, occurredAt: at },
  }),
  'dial-failed': ({ callId, attempt, outcome, sipCode, retryAfterSeconds, whisperAccepted, at }) => ({
    command: recordFailure,
    input: { callId, attempt, outcome, sipCode, retryAfterSeconds, whisperAccepted, occurredAt: at },
  }),
  'call-ended': ({ callId, hungUpBy, recorded, at }) => ({
    command: endCall,
    input: { callId, hungUpBy, recorded, terminated: false, occurredAt: at },
  }),
  'recording-saved': ({ callId, carrierRecordingId, format, channels, durationSeconds, expiresAt, at }) => ({
    command: saveRecording,
    input: { callId, carrierRecordingId, format, channels, durationSeconds, expiresAt, occurredAt: at },
  }),
}

// One type parameter relates the notice to its entry of the table.
function commandOf<Type extends keyof Notices>(type: Type, notice: Notices[Type], digest: Digest): NoticeCommand {
  return COMMANDS[type](notice, digest)
}

/** The command, with its input, that handles a carrier notice. Of a routing key the input has only the digest. */
export function commandFor(notice: CarrierNotice, digest: Digest): NoticeCommand {
  return commandOf(notice.type, notice, digest)
}
