import { endCall } from '../../commands/calls/end-call.ts'
import { recordAnswer } from '../../commands/calls/record-answer.ts'
import { recordFailure } from '../../commands/calls/record-failure.ts'
import { saveRecording } from '../../commands/calls/save-recording.ts'
import { routeCall } from '../../commands/routing/route-call.ts'
import { routingKeyIn } from '../domain/routing/sender.ts'
import type { AnyCommand } from '../kernel/command.ts'
import type { CarrierNotice } from '../ports/carrier.ts'

type NoticeOf<Type extends CarrierNotice['type']> = Extract<CarrierNotice, { readonly type: Type }>

/** What a secret is looked up by. */
type Digest = (secret: string) => string

interface NoticeCommand {
  readonly command: AnyCommand
  readonly input: unknown
}

const COMMANDS: {
  readonly [Type in CarrierNotice['type']]: (notice: NoticeOf<Type>, digest: Digest) => NoticeCommand
} = {
  'call-arrived': ({ callId, carrierCallId, to, from, sipHeaders, seed = null, at }, digest) => {
    const key = routingKeyIn(sipHeaders)
    const routingKeyHash = key && digest(key)
    const input = { callId, carrierCallId, to, caller: from, routingKeyHash, seed, occurredAt: at }
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

/** The command that a notice of the carrier's asks for. A routing key goes no further than its `digest`. */
export function commandFor(notice: CarrierNotice, digest: Digest): NoticeCommand {
  const order = COMMANDS[notice.type] as (notice: CarrierNotice, digest: Digest) => NoticeCommand
  return order(notice, digest)
}
