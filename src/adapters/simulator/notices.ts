import type { CarrierNotice } from '../../ports/carrier.ts'
import { unsealHeaders } from '../../ports/sealed-headers.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import type { SimulatedDial } from './dial.ts'
import { simulatedRecordingOf } from './recordings.ts'
import type { SimulatedCallState } from './simulated-call.ts'

const keyOf = ({ workspaceId, callId }: PlacedCall) => ({ workspaceId, callId })

/** The arrival of a call, its SIP headers unsealed. */
export function arrivalNotice(placed: PlacedCall, secrets: Pick<Secrets, 'unseal'>): CarrierNotice {
  const { carrierCallId, to, from, seed, arrivesAt: at } = placed
  const sipHeaders = unsealHeaders(placed.sipHeaders, carrierCallId, secrets)
  return { type: 'call-arrived', ...keyOf(placed), carrierCallId, to, from, sipHeaders, seed, at }
}

/** How a dial ended: answered or failed; null for neither. */
export function dialNotice(placed: PlacedCall, dial: SimulatedDial): CarrierNotice | null {
  const { attempt, answered, outcome, sipCode, retryAfterSeconds, whisperAccepted, resultAt: at } = dial
  const key = { ...keyOf(placed), attempt }
  if (answered) return { type: 'dial-answered', ...key, whisperAccepted, at }
  return outcome && { type: 'dial-failed', ...key, outcome, sipCode, retryAfterSeconds, whisperAccepted, at }
}

/** The end of a call, then its recording where there is one; none while no end is planned. */
export function endNotices(placed: PlacedCall, state: SimulatedCallState): readonly CarrierNotice[] {
  if (!state.ends) return []
  const { hungUpBy, at } = state.ends
  const recording = simulatedRecordingOf(state)
  const end = { type: 'call-ended', ...keyOf(placed), hungUpBy, recorded: recording !== null, at } as const
  if (!recording) return [end]
  const { carrierRecordingId, ms, expiresAt, savedAt } = recording
  const sound = { format: 'wav', channels: 1, durationSeconds: Math.round(ms / 1_000) } as const
  return [end, { type: 'recording-saved', ...keyOf(placed), carrierRecordingId, ...sound, expiresAt, at: savedAt }]
}
