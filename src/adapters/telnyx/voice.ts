import { APIError, type Telnyx } from 'telnyx'
import { v5 } from 'uuid'
import { CarrierRefused } from '../../ports/carrier-numbers.ts'
import { request } from './client.ts'
import { clientState } from './client-state.ts'
import { callStatus, dialledCall, errorResponse } from './responses.ts'
import { ringbackTone } from './ringback.ts'
import type { CompletedStep, Leg, RequestedDial } from './session.ts'

/** How a target is dialled beside where: what it keeps secret is opened for this dial alone. */
export interface DialSettings {
  readonly sendDigits: string | null
  readonly sip: {
    readonly transport: 'udp' | 'tcp' | 'tls'
    readonly port: number | null
    readonly credentials: { readonly username: string; readonly password: string } | null
  } | null
}

/** How a command ended, and the leg that a dial began. @throws CarrierUnavailable when it may yet be done */
export type StepOutcome = Pick<CompletedStep, 'outcome' | 'leg' | 'sentence'>

/** Codes with which Telnyx says that a leg is over, or never was. */
const GONE: ReadonlySet<string> = new Set(['90018', '90015', '90053', '10005'])
/** Telnyx's plainest voice; texts are taken as they are written. */
const VOICE = { voice: 'female', language: 'en-US', payload_type: 'text' } as const
/** A buyer hears a whisper twice at most, and has so long (ms) to press a key after each. */
const WHISPER = { maximum_tries: 2, timeout_millis: 8_000 } as const
const KEYS = '0123456789*#'
/** Seconds of the shortest ring that Telnyx takes. */
const SHORTEST_RING = 5
/** Seconds that a forward rings. */
const FORWARD_RING = 60

const TRANSPORTS = { udp: 'UDP', tcp: 'TCP', tls: 'TLS' } as const

function isGone(error: unknown): boolean {
  if (!(error instanceof APIError)) return false
  const told = errorResponse.safeParse(error.error)
  return error.status === 404 || (told.success && told.data.errors.some(({ code }) => GONE.has(String(code))))
}

const DONE: StepOutcome = { outcome: 'done', leg: null, sentence: null }

/** Does a command. */
async function runCommand(
  command: () => Promise<unknown>,
  read: (answer: unknown) => StepOutcome = () => DONE,
): Promise<StepOutcome> {
  let gone = false
  const noting = () =>
    command().catch((error: unknown) => {
      gone = isGone(error)
      throw error
    })
  try {
    return await request(noting, read)
  } catch (error) {
    if (gone) return { outcome: 'gone', leg: null, sentence: null }
    if (error instanceof CarrierRefused) return { outcome: 'refused', leg: null, sentence: error.message }
    throw error
  }
}

/** Where a dial goes: a sip address with the port that is set for it, unless it names one itself. */
function addressOf(destination: string, sip: DialSettings['sip']): string {
  if (!sip || sip.port === null || /^sips?:[^@]*@(\[[^\]]*\]|[^:;?]*):/i.test(destination)) return destination
  return destination.replace(/^(sips?:[^@]*@(?:\[[^\]]*\]|[^:;?]*))/i, `$1:${sip.port}`)
}

function sipSettings(destination: string, sip: DialSettings['sip']) {
  if (!sip || !/^sips?:/i.test(destination)) return {}
  const transport = /^sips:/i.test(destination) ? 'tls' : sip.transport
  const { credentials } = sip
  return {
    sip_transport_protocol: TRANSPORTS[transport],
    ...(credentials && { sip_auth_username: credentials.username, sip_auth_password: credentials.password }),
  }
}

/** Whom a call is said to come from: its own caller on the strength of their call, or its number, if need be unseen. */
function callerIdOf(callerId: string | null, { to, from }: NonNullable<Leg['initiated']>) {
  if (callerId === null) return { from: to ?? '', privacy: 'id' as const }
  return { from: callerId, ...(callerId === from && to !== null ? { diversion: to } : {}) }
}

/** An id of a session's command that is the same whenever it is sent. */
export function commandIdOf(session: string, step: string): string {
  return v5(`${session} ${step}`, v5.URL)
}

/** Telnyx's commands on calls. Each is done once for its id, as long as Telnyx remembers that: a minute. */
export function createVoice(client: Telnyx, { connectionId }: { readonly connectionId: string }) {
  const { calls } = client
  const { actions } = calls

  const dialled = (answer: unknown): StepOutcome => ({ ...DONE, leg: dialledCall.parse(answer).data.call_control_id })

  return {
    answer: (leg: string, command_id: string) => runCommand(() => actions.answer(leg, { command_id })),
    reject: (leg: string, command_id: string) =>
      runCommand(() => actions.reject(leg, { cause: 'CALL_REJECTED', command_id })),
    hangup: (leg: string, command_id: string) => runCommand(() => actions.hangup(leg, { command_id })),
    ringback: (leg: string, command_id: string) =>
      runCommand(() =>
        actions.startPlayback(leg, {
          playback_content: ringbackTone(),
          audio_type: 'wav',
          loop: 'infinity',
          command_id,
        }),
      ),
    quiet: (leg: string, command_id: string) =>
      runCommand(() => actions.stopPlayback(leg, { stop: 'all', command_id })),
    speak: (leg: string, payload: string, command_id: string) =>
      runCommand(() => actions.speak(leg, { payload, ...VOICE, command_id })),
    ask: (leg: string, payload: string, command_id: string) =>
      runCommand(() =>
        actions.gatherUsingSpeak(leg, {
          payload,
          ...VOICE,
          ...WHISPER,
          minimum_digits: 1,
          maximum_digits: 1,
          valid_digits: KEYS,
          terminating_digit: '',
          command_id,
        }),
      ),
    bridge: (leg: string, other: string, command_id: string) =>
      runCommand(() =>
        actions.bridge(leg, { call_control_id_to_bridge_with: other, prevent_double_bridge: true, command_id }),
      ),
    record: (leg: string, command_id: string) =>
      runCommand(() => actions.startRecording(leg, { format: 'mp3', channels: 'dual', command_id })),
    transfer: ({ id, initiated }: Leg, session: string, to: string, command_id: string) =>
      runCommand(() =>
        actions.transfer(id, {
          to,
          ...(initiated && callerIdOf(initiated.from, initiated)),
          timeout_secs: FORWARD_RING,
          target_leg_client_state: clientState({ session, purpose: { forward: true } }),
          command_id,
        }),
      ),
    dial: (caller: Leg, session: string, dial: RequestedDial, { sendDigits, sip }: DialSettings) =>
      runCommand(
        () =>
          calls.dial({
            connection_id: connectionId,
            to: addressOf(dial.destination, sip),
            ...(caller.initiated ? callerIdOf(dial.callerId, caller.initiated) : { from: dial.callerId ?? '' }),
            link_to: caller.id,
            timeout_secs: Math.max(SHORTEST_RING, dial.ringSeconds),
            client_state: clientState({ session, purpose: { attempt: dial.attempt } }),
            command_id: dial.commandId,
            ...(sendDigits !== null && { send_digits_on_answer: sendDigits }),
            ...sipSettings(dial.destination, sip),
          }),
        dialled,
      ),
    probe: (
      {
        commandId,
        destination,
        ringSeconds,
      }: { readonly commandId: string; readonly destination: string; readonly ringSeconds: number },
      from: string,
      { sip }: DialSettings,
    ) =>
      runCommand(
        () =>
          calls.dial({
            connection_id: connectionId,
            to: addressOf(destination, sip),
            from,
            timeout_secs: Math.max(SHORTEST_RING, ringSeconds),
            client_state: clientState({ session: commandId, purpose: { probe: true } }),
            command_id: commandId,
            ...sipSettings(destination, sip),
          }),
        dialled,
      ),
    /** Whether a leg is still there, and else since when it is not, as far as Telnyx knows. */
    async look(leg: string): Promise<{ readonly alive: boolean; readonly endedAt: string | null }> {
      const absent = { data: { is_alive: false } }
      const read = (answer: unknown) => callStatus.parse(answer).data
      const { is_alive: alive, end_time: endedAt = null } = await request(
        () =>
          calls.retrieveStatus(leg).catch((error: unknown) => {
            if (isGone(error)) return absent
            throw error
          }),
        read,
      )
      return { alive, endedAt }
    },
  }
}

export type Voice = ReturnType<typeof createVoice>
