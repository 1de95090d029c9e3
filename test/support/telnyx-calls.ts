import { generateKeyPairSync, sign } from 'node:crypto'
import type { ScriptedDial } from '../../src/adapters/simulator/script.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Json } from './e2e-client.ts'

/** A webhook as it goes out. */
export interface SentWebhook {
  readonly type: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** A caller of the double's network. */
export interface PlacedCaller {
  readonly to: string
  /** As the network spells it. */
  readonly from: string
  /** Dials by destination, one entry for each successive dial, the last repeats; where nothing is said, an answer. */
  readonly script?: Readonly<Record<string, readonly ScriptedDial[]>>
  readonly hangsUpAfterSeconds?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The caller's leg never tells that it ended. */
  readonly endless?: boolean
}

interface CallLeg {
  readonly id: string
  readonly legId: string
  readonly session: string
  readonly incoming: boolean
  readonly from: string
  readonly to: string
  clientState: string | null
  entry: ScriptedDial
  answeredAt: number | null
  ended: boolean
  partner: CallLeg | null
  recordedSince: number | null
}

/** What calls on the double are made of. */
export interface TelnyxCallsOptions {
  readonly clock: Clock
  /** Brings a webhook to the platform; false when it did not take it. */
  readonly deliver: (webhook: SentWebhook) => Promise<boolean>
  /** After how many seconds each copy of a webhook goes out; one copy at once by default. */
  readonly copies?: (type: string) => readonly number[]
  /** Whether a command (`dial`, `bridge`, …) is refused, the n-th of its kind from 1; none is by default. */
  readonly refuses?: (command: string, nth: number) => boolean
}

const RING_SECONDS = 3
const TALK_SECONDS = 60
const MESSAGE_SECONDS = 5
const FORWARD_SECONDS = 60
const SECOND_MS = 1_000
const RETRY_MS = 1_000
/** A command is known again by its id for so long. */
const REMEMBERED_MS = 60_000

const FAILURES: Readonly<Record<string, { readonly cause: string; readonly sip: string }>> = {
  busy: { cause: 'user_busy', sip: '486' },
  rejected: { cause: 'call_rejected', sip: '603' },
  failed: { cause: 'unspecified', sip: '500' },
  unavailable: { cause: 'unspecified', sip: '503' },
}

const ok = (data: Json) => ({ status: 200, body: { data } })
const refused = (status: number, code: string, detail: string) => ({
  status,
  body: { errors: [{ code, title: detail, detail }] },
})

/** Telnyx's call control on this machine, by its published shapes: it plays scripts, and tells of them by signed webhooks. */
export function createTelnyxCalls({ clock, deliver, copies = () => [0], refuses = () => false }: TelnyxCallsOptions) {
  const keys = generateKeyPairSync('ed25519')
  const publicKey = Buffer.from(keys.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')
  const legs = new Map<string, CallLeg>()
  const scripts = new Map<string, PlacedCaller>()
  const dialled = new Map<string, number>()
  const commands = new Map<string, { readonly at: number; readonly answer: unknown }>()
  const done: { readonly command: string; readonly body: Json }[] = []
  const sent: SentWebhook[] = []
  const asked = new Map<string, number>()
  let minted = 0
  let delivering = 0

  const mint = (kind: string) => {
    minted += 1
    return `${kind}${String(minted).padStart(8, '0')}`
  }
  const after = (seconds: number, step: () => void) => void clock.at(clock.now() + seconds * SECOND_MS, step)
  const instant = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z')

  /** Signed with the time of sending, as Telnyx does at each attempt. */
  function signedAt(time: number, type: string, body: string): SentWebhook {
    const timestamp = String(Math.floor(time / SECOND_MS))
    const signature = sign(null, Buffer.from(`${timestamp}|${body}`), keys.privateKey).toString('base64')
    const headers = {
      'content-type': 'application/json',
      'telnyx-timestamp': timestamp,
      'telnyx-signature-ed25519': signature,
    }
    return { type, body, headers }
  }
  const signed = (type: string, body: string) => signedAt(clock.now(), type, body)

  async function send(type: string, body: string): Promise<void> {
    delivering += 1
    const webhook = signed(type, body)
    sent.push(webhook)
    const taken = await deliver(webhook).catch(() => false)
    delivering -= 1
    if (!taken) clock.at(clock.now() + RETRY_MS, () => void send(type, body))
  }

  function tell(leg: CallLeg, type: string, more: Json = {}): void {
    const payload = {
      call_control_id: leg.id,
      call_leg_id: leg.legId,
      call_session_id: leg.session,
      client_state: leg.clientState,
      connection_id: '1293384261075731499',
      from: leg.from,
      to: leg.to,
      ...more,
    }
    const data = {
      record_type: 'event',
      event_type: type,
      id: mint('evt-'),
      occurred_at: instant(clock.now()),
      payload,
    }
    const body = JSON.stringify({ data, meta: { attempt: 1, delivered_to: 'the platform' } })
    for (const delay of copies(type)) {
      if (delay === 0) void send(type, body)
      else after(delay, () => void send(type, body))
    }
  }

  function legOf(session: string, more: Pick<CallLeg, 'incoming' | 'from' | 'to' | 'clientState' | 'entry'>): CallLeg {
    const leg: CallLeg = {
      id: mint('v3:'),
      legId: mint('leg-'),
      session,
      answeredAt: null,
      ended: false,
      partner: null,
      recordedSince: null,
      ...more,
    }
    legs.set(leg.id, leg)
    const [direction, state] = leg.incoming ? ['incoming', 'parked'] : ['outgoing', 'bridging']
    const headers = Object.entries(scripts.get(session)?.headers ?? {}).map(([name, value]) => ({ name, value }))
    tell(leg, 'call.initiated', { direction, state, ...(leg.incoming && { custom_headers: headers }) })
    return leg
  }

  function end(leg: CallLeg, cause: string, source: string, sip = 'unspecified'): void {
    if (leg.ended) return
    leg.ended = true
    if (leg.incoming && scripts.get(leg.session)?.endless) return
    tell(leg, 'call.hangup', { state: 'hangup', hangup_cause: cause, hangup_source: source, sip_hangup_cause: sip })
    const { partner, recordedSince } = leg
    if (partner) end(partner, 'normal_clearing', partner.incoming === (source === 'callee') ? 'callee' : 'caller')
    if (recordedSince !== null) {
      tell(leg, 'call.recording.saved', {
        recording_id: mint('rec-'),
        format: 'mp3',
        channels: 'dual',
        recording_started_at: instant(recordedSince),
        recording_ended_at: instant(clock.now()),
        recording_urls: { mp3: 'http://127.0.0.1:9/recording.mp3' },
        public_recording_urls: {},
      })
    }
  }

  function answer(leg: CallLeg): void {
    if (leg.ended || leg.answeredAt !== null) return
    leg.answeredAt = clock.now()
    tell(leg, 'call.answered', { state: 'answered' })
  }

  function ring(leg: CallLeg, ringSeconds: number): void {
    const { result, afterSeconds = result === 'no_answer' ? ringSeconds : RING_SECONDS } = leg.entry
    const failure = FAILURES[result]
    if (afterSeconds >= ringSeconds) after(ringSeconds, () => end(leg, 'timeout', 'caller', '487'))
    else after(afterSeconds, () => (failure ? end(leg, failure.cause, 'callee', failure.sip) : answer(leg)))
  }

  function dial(body: Json) {
    const linked = legs.get(body.link_to)
    if (body.link_to && (!linked || linked.ended)) return refused(422, '90018', 'Call has already ended')
    if (typeof body.from !== 'string' || body.from === '') return refused(422, '10015', 'The from number is not valid.')
    const session = linked?.session ?? mint('session-')
    const count = `${session} ${body.to}`
    const nth = dialled.get(count) ?? 0
    dialled.set(count, nth + 1)
    const entries = scripts.get(session)?.script?.[body.to] ?? probed.get(body.to) ?? []
    const entry = entries[Math.min(nth, entries.length - 1)] ?? { result: 'answer' as const }
    const leg = legOf(session, { incoming: false, from: body.from, to: body.to, clientState: body.client_state, entry })
    ring(leg, body.timeout_secs)
    return ok({ record_type: 'call', ...namesOf(leg), is_alive: false, client_state: body.client_state })
  }

  const namesOf = ({ id, legId, session }: CallLeg) => ({
    call_control_id: id,
    call_leg_id: legId,
    call_session_id: session,
  })

  /** Scripts of dials that belong to no call, by destination. */
  const probed = new Map<string, readonly ScriptedDial[]>()

  function bridge(leg: CallLeg, other: CallLeg | undefined) {
    if (!other || other.ended) return refused(422, '90018', 'Call has already ended')
    leg.partner = other
    other.partner = leg
    for (const one of [leg, other]) tell(one, 'call.bridged')
    const { talkSeconds = TALK_SECONDS, hungUpBy } = other.entry
    clock.at((other.answeredAt ?? clock.now()) + talkSeconds * SECOND_MS, () =>
      hungUpBy === 'buyer' ? end(other, 'normal_clearing', 'callee', '200') : end(leg, 'normal_clearing', 'caller'),
    )
    return ok({ result: 'ok' })
  }

  function transfer(leg: CallLeg, body: Json) {
    const more = { incoming: false, from: body.from, to: body.to, clientState: body.target_leg_client_state }
    const forward = legOf(leg.session, { ...more, entry: { result: 'answer' } })
    after(0, () => {
      answer(forward)
      leg.partner = forward
      forward.partner = leg
      after(FORWARD_SECONDS, () => end(forward, 'normal_clearing', 'callee', '200'))
    })
    return ok({ result: 'ok' })
  }

  function gather(leg: CallLeg) {
    const digits = (leg.entry.digits ?? '').slice(0, 1)
    tell(leg, 'call.gather.ended', { digits, status: digits === '' ? 'timeout' : 'valid' })
    return ok({ result: 'ok' })
  }

  const ACTIONS: Readonly<
    Record<string, (leg: CallLeg, body: Json) => { readonly status: number; readonly body: unknown }>
  > = {
    answer: (leg) => {
      answer(leg)
      return ok({ result: 'ok' })
    },
    reject: (leg) => {
      end(leg, 'call_rejected', 'callee')
      return ok({ result: 'ok' })
    },
    hangup: (leg) => {
      const [cause, source] =
        leg.incoming || leg.answeredAt
          ? ['normal_clearing', leg.incoming ? 'callee' : 'caller']
          : ['originator_cancel', 'caller']
      end(leg, cause ?? '', source ?? '')
      return ok({ result: 'ok' })
    },
    bridge: (leg, body) => bridge(leg, legs.get(body.call_control_id)),
    transfer,
    gather_using_speak: gather,
    speak: (leg) => {
      const spoken = () => leg.ended || tell(leg, 'call.speak.ended', { status: 'completed' })
      if (leg.incoming) after(MESSAGE_SECONDS, spoken)
      else spoken()
      return ok({ result: 'ok' })
    },
    playback_start: () => ok({ result: 'ok' }),
    playback_stop: () => ok({ result: 'ok' }),
    record_start: (leg) => {
      leg.recordedSince = clock.now()
      return ok({ result: 'ok' })
    },
  }

  function act(leg: CallLeg | undefined, action: string, body: Json) {
    const take = ACTIONS[action]
    if (!leg || !take) return refused(404, '10005', 'The requested resource was not found.')
    if (leg.ended) return refused(422, '90018', 'Call has already ended')
    return take(leg, body)
  }

  /** Does a command once, for as long as its id is remembered. */
  function once(
    key: string,
    command: string,
    body: Json,
    take: () => { readonly status: number; readonly body: unknown },
  ) {
    const nth = (asked.get(command) ?? 0) + 1
    asked.set(command, nth)
    if (refuses(command, nth)) return refused(422, '10015', 'The command cannot be done now.')
    const before = commands.get(key)
    if (before && clock.now() - before.at < REMEMBERED_MS) return before.answer as ReturnType<typeof take>
    const answered = take()
    if (answered.status === 200) {
      done.push({ command, body })
      if (body.command_id) commands.set(key, { at: clock.now(), answer: answered })
    }
    return answered
  }

  return {
    publicKey,
    /** Commands that were done, in order. */
    done: done as readonly (typeof done)[number][],
    /** Webhooks that were sent, every copy and attempt. */
    sent: sent as readonly SentWebhook[],
    /** Webhooks that are being delivered. */
    delivering: () => delivering,
    signed,
    signedAt,
    /** What becomes of dials that belong to no call. */
    probes: (destination: string, ...entries: readonly ScriptedDial[]) => void probed.set(destination, entries),
    place(caller: PlacedCaller): string {
      const session = mint('session-')
      scripts.set(session, caller)
      const { from, to, hangsUpAfterSeconds } = caller
      const leg = legOf(session, { incoming: true, from, to, clientState: null, entry: { result: 'answer' } })
      if (hangsUpAfterSeconds !== undefined) {
        after(hangsUpAfterSeconds, () => end(leg, leg.answeredAt ? 'normal_clearing' : 'originator_cancel', 'caller'))
      }
      return session
    },
    answer(method: string, path: readonly string[], body: Json) {
      const [, id, , action] = path
      if (method === 'GET') {
        const leg = legs.get(id ?? '')
        if (!leg) return refused(404, '10005', 'The requested resource was not found.')
        return ok({ record_type: 'call', ...namesOf(leg), is_alive: !leg.ended })
      }
      if (id === undefined) return once(`dial ${body.command_id}`, 'dial', body, () => dial(body))
      return once(`${id} ${body.command_id}`, action ?? '', body, () => act(legs.get(id), action ?? '', body))
    },
  }
}
export type TelnyxCalls = ReturnType<typeof createTelnyxCalls>
