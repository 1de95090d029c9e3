import type { Telnyx } from 'telnyx'
import type { ProbeCommand } from '../../ports/carrier.ts'
import { request } from './client.ts'
import { clientState } from './client-state.ts'
import { addressOf, callerIdFields, type DialSettings, sipFields } from './dial-settings.ts'
import { dialledCall, telnyxCallStatus } from './responses.ts'
import { ringbackTone } from './ringback.ts'
import { DONE, isGone, runCommand, type StepOutcome } from './run-command.ts'
import type { Leg, RequestedDial } from './session.ts'

/** Telnyx's plainest voice; texts are spoken as they are written. */
const VOICE = { voice: 'female', language: 'en-US', payload_type: 'text' } as const
/** A buyer hears a whisper at most twice and has this long (ms) to press a key after each. */
const WHISPER = { maximum_tries: 2, timeout_millis: 8_000 } as const
const KEYS = '0123456789*#'
/** Seconds of the shortest ring that Telnyx accepts. */
const MIN_RING = 5
/** Seconds that a forward rings. */
const FORWARD_RING = 60

/** Commands on a leg that exists. */
function createLegCommands({ calls: { actions } }: Telnyx) {
  return {
    answer: (leg: string, command_id: string) => runCommand(() => actions.answer(leg, { command_id })),
    reject: (leg: string, command_id: string) =>
      runCommand(() => actions.reject(leg, { cause: 'CALL_REJECTED', command_id })),
    hangup: (leg: string, command_id: string) => runCommand(() => actions.hangup(leg, { command_id })),
    ringback(leg: string, command_id: string) {
      const playback = { playback_content: ringbackTone(), audio_type: 'wav', loop: 'infinity' } as const
      return runCommand(() => actions.startPlayback(leg, { ...playback, command_id }))
    },
    stopRingback: (leg: string, command_id: string) =>
      runCommand(() => actions.stopPlayback(leg, { stop: 'all', command_id })),
    speak: (leg: string, payload: string, command_id: string) =>
      runCommand(() => actions.speak(leg, { payload, ...VOICE, command_id })),
    /** Speaks a text and waits for one key. */
    ask(leg: string, payload: string, command_id: string) {
      const digits = { minimum_digits: 1, maximum_digits: 1, valid_digits: KEYS, terminating_digit: '' }
      return runCommand(() => actions.gatherUsingSpeak(leg, { payload, ...VOICE, ...WHISPER, ...digits, command_id }))
    },
    bridge(leg: string, other: string, command_id: string) {
      const bridge = { call_control_id_to_bridge_with: other, prevent_double_bridge: true }
      return runCommand(() => actions.bridge(leg, { ...bridge, command_id }))
    },
    record: (leg: string, command_id: string) =>
      runCommand(() => actions.startRecording(leg, { format: 'mp3', channels: 'dual', command_id })),
    transfer: ({ id, initiated }: Leg, session: string, to: string, command_id: string) =>
      runCommand(() =>
        actions.transfer(id, {
          to,
          ...(initiated && callerIdFields(initiated.from, initiated)),
          timeout_secs: FORWARD_RING,
          target_leg_client_state: clientState({ session, purpose: { forward: true } }),
          command_id,
        }),
      ),
  }
}

const readDialledLeg = (response: unknown): StepOutcome => ({
  ...DONE,
  leg: dialledCall.parse(response).data.call_control_id,
})

/** Commands that create a leg. */
function createDialCommands({ calls }: Telnyx, connectionId: string) {
  const dialFields = (destination: string, ringSeconds: number, settings: DialSettings) => ({
    connection_id: connectionId,
    to: addressOf(destination, settings),
    timeout_secs: Math.max(MIN_RING, ringSeconds),
    ...sipFields(destination, settings),
  })

  return {
    dial(caller: Leg, session: string, dial: RequestedDial, settings: DialSettings) {
      const { attempt, callerId, commandId, destination, ringSeconds } = dial
      const { sendDigits } = settings
      return runCommand(
        () =>
          calls.dial({
            ...dialFields(destination, ringSeconds, settings),
            ...(caller.initiated ? callerIdFields(callerId, caller.initiated) : { from: callerId ?? '' }),
            link_to: caller.id,
            client_state: clientState({ session, purpose: { attempt } }),
            command_id: commandId,
            ...(sendDigits !== null && { send_digits_on_answer: sendDigits }),
          }),
        readDialledLeg,
      )
    },
    probe: ({ commandId, destination, ringSeconds }: ProbeCommand, from: string, settings: DialSettings) =>
      runCommand(
        () =>
          calls.dial({
            ...dialFields(destination, ringSeconds, settings),
            from,
            client_state: clientState({ session: commandId, purpose: { probe: true } }),
            command_id: commandId,
          }),
        readDialledLeg,
      ),
  }
}

/** Telnyx's commands on calls. Each is executed once for its id, as long as Telnyx remembers the id: a minute. */
export function createVoice(client: Telnyx, { connectionId }: { readonly connectionId: string }) {
  return {
    ...createLegCommands(client),
    ...createDialCommands(client, connectionId),
    /** Whether a leg exists, and since when (ISO) it does not, as far as Telnyx knows. @throws CarrierUnavailable */
    async statusOf(leg: string): Promise<{ readonly alive: boolean; readonly endedAt: string | null }> {
      const retrieve = () =>
        client.calls.retrieveStatus(leg).catch((error: unknown) => {
          if (isGone(error)) return { data: { is_alive: false } }
          throw error
        })
      const { is_alive: alive, end_time: endedAt = null } = await request(
        retrieve,
        (response) => telnyxCallStatus.parse(response).data,
      )
      return { alive, endedAt }
    },
  }
}

export type Voice = ReturnType<typeof createVoice>
