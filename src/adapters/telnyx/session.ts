import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'

/** Why we dialled a leg: an attempt, a forward, or a probe. */
export const purpose = z.union([
  z.object({ attempt: z.int().min(1) }),
  z.object({ forward: z.literal(true) }),
  z.object({ probe: z.literal(true) }),
])

const hangup = z.object({
  cause: z.string(),
  source: z.enum(['caller', 'callee', 'unknown']),
  sipCode: z.int().nullable(),
})

const saved = z.object({
  recordingId: z.string(),
  format: z.enum(['mp3', 'wav']),
  channels: z.int(),
  durationSeconds: z.int(),
})

/** What a webhook reports. */
export const webhookPayload = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('initiated'),
    incoming: z.boolean(),
    /** Null when the dialled party is not a telephone number. */
    to: z.string().nullable(),
    /** E.164; null when the caller withheld it. */
    from: z.string().nullable(),
    sipHeaders: z.record(z.string(), z.string()),
  }),
  z.object({ type: z.literal('answered') }),
  z.object({ type: z.literal('bridged') }),
  z.object({ type: z.literal('spoken') }),
  z.object({ type: z.literal('gathered'), digits: z.string() }),
  z.object({ type: z.literal('ended'), ...hangup.shape }),
  z.object({ type: z.literal('recorded'), ...saved.shape }),
])

/** A webhook as it is stored, under its own id. */
export const receivedWebhook = z.object({
  webhookId: z.string(),
  /** The control id of its leg; null when it names none. */
  leg: z.string().nullable(),
  purpose: purpose.nullable(),
  at: instant,
  news: webhookPayload,
})
export type ReceivedWebhook = Readonly<z.infer<typeof receivedWebhook>>

const commandFields = { commandId: z.string(), workspaceId: id, callId: id, at: instant }
const requestedDial = z.object({
  ...commandFields,
  attempt: z.int().min(1),
  targetId: id,
  destination: z.string(),
  callerId: z.string().nullable(),
  ringSeconds: z.int(),
  whisper: z.object({ text: z.string(), acceptDigit: z.string().nullable() }).nullable(),
  record: z.boolean(),
})
const requestedRelease = z.object({
  ...commandFields,
  action: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('hangup') }),
    z.object({ kind: z.literal('message'), text: z.string() }),
    z.object({ kind: z.literal('forward'), e164: z.string() }),
  ]),
})
export type RequestedDial = Readonly<z.infer<typeof requestedDial>>
export type RequestedRelease = Readonly<z.infer<typeof requestedRelease>>

/** How a step ended: done, refused by Telnyx, or too late because the leg had ended. */
const completedStep = z.object({
  step: z.string(),
  outcome: z.enum(['done', 'refused', 'gone']),
  at: instant,
  /** The leg that a dial created, and Telnyx's message when it refused. */
  leg: z.string().nullable(),
  sentence: z.string().nullable(),
})
export type CompletedStep = Readonly<z.infer<typeof completedStep>>

/** The workspace of the dialled number (null when none takes calls on it), and the call's id in the platform. */
const recognized = z.object({ sessionId: z.string(), workspaceId: id.nullable(), callId: id })

/** These names are the storage format. */
export const sessionEvents = {
  TelnyxWebhookTaken: receivedWebhook,
  TelnyxCallRecognized: recognized,
  TelnyxDialAsked: requestedDial,
  TelnyxReleaseAsked: requestedRelease,
  TelnyxStepTaken: completedStep,
}

/** One leg of a call, as far as webhooks have reported it. */
export interface Leg {
  readonly id: string
  readonly purpose: 'caller' | z.infer<typeof purpose> | null
  readonly initiated: (Extract<ReceivedWebhook['news'], { type: 'initiated' }> & { readonly at: string }) | null
  readonly answeredAt: string | null
  readonly bridgedAt: string | null
  readonly spokenAt: string | null
  readonly gathered: { readonly digits: string; readonly at: string } | null
  readonly ended: (z.infer<typeof hangup> & { readonly at: string }) | null
}

export interface Session {
  /** Ids of the stored webhooks: none is stored twice. */
  readonly webhooks: readonly string[]
  readonly legs: readonly Leg[]
  readonly recognized: Readonly<z.infer<typeof recognized>> | null
  readonly dials: readonly RequestedDial[]
  readonly releases: readonly RequestedRelease[]
  readonly completed: Readonly<Record<string, CompletedStep>>
  readonly recordings: readonly (z.infer<typeof saved> & { readonly at: string })[]
  /** Instant of the last webhook or completed step. */
  readonly lastActivityAt: string | null
}

const NEW_LEG = {
  purpose: null,
  initiated: null,
  answeredAt: null,
  bridgedAt: null,
  spokenAt: null,
  gathered: null,
  ended: null,
}

function withLeg(session: Session, id: string, change: (leg: Leg) => Leg): Session {
  const known = session.legs.find((leg) => leg.id === id)
  if (!known) return { ...session, legs: [...session.legs, change({ id, ...NEW_LEG })] }
  return { ...session, legs: session.legs.map((leg) => (leg.id === id ? change(leg) : leg)) }
}

/** A leg after a webhook. The first report of each fact wins. */
function applyWebhook(leg: Leg, { news, at, purpose }: ReceivedWebhook): Leg {
  const known = { ...leg, purpose: leg.purpose ?? purpose }
  switch (news.type) {
    case 'initiated':
      return { ...known, purpose: known.purpose ?? (news.incoming ? 'caller' : null), initiated: { ...news, at } }
    case 'answered':
      return { ...known, answeredAt: known.answeredAt ?? at }
    case 'bridged':
      return { ...known, bridgedAt: known.bridgedAt ?? at }
    case 'spoken':
      return { ...known, spokenAt: known.spokenAt ?? at }
    case 'gathered':
      return { ...known, gathered: known.gathered ?? { digits: news.digits, at } }
    case 'ended':
      return { ...known, ended: known.ended ?? { cause: news.cause, source: news.source, sipCode: news.sipCode, at } }
    default:
      return known
  }
}

const later = (one: string | null, other: string) => (one !== null && one > other ? one : other)

function attemptOf(step: string): number | null {
  const attempt = /^dial:(\d+)$/.exec(step)?.[1]
  return attempt === undefined ? null : Number(attempt)
}

/** A call's session at Telnyx, stream `telnyx-<pp>-<session id>`. Any process can continue the call from this state. */
export const session = defineEntity({
  name: 'telnyx',
  version: 2,
  events: sessionEvents,
  initial: {
    webhooks: [],
    legs: [],
    recognized: null,
    dials: [],
    releases: [],
    completed: {},
    recordings: [],
    lastActivityAt: null,
  } as Session,
  evolve: {
    TelnyxWebhookTaken: (state, { data }) => {
      const { webhookId, leg, news, at } = data
      const received: Session = {
        ...state,
        webhooks: [...state.webhooks, webhookId],
        lastActivityAt: later(state.lastActivityAt, at),
      }
      if (news.type === 'recorded') return { ...received, recordings: [...state.recordings, { ...news, at }] }
      return leg === null ? received : withLeg(received, leg, (known) => applyWebhook(known, data))
    },
    TelnyxCallRecognized: (state, { data }) => ({ ...state, recognized: data }),
    TelnyxDialAsked: (state, { data }) => ({ ...state, dials: [...state.dials, data] }),
    TelnyxReleaseAsked: (state, { data }) => ({ ...state, releases: [...state.releases, data] }),
    TelnyxStepTaken: (state, { data }): Session => {
      const next: Session = {
        ...state,
        completed: { ...state.completed, [data.step]: data },
        lastActivityAt: later(state.lastActivityAt, data.at),
      }
      const attempt = attemptOf(data.step)
      if (attempt === null || data.leg === null) return next
      return withLeg(next, data.leg, (leg) => ({ ...leg, purpose: leg.purpose ?? { attempt } }))
    },
  },
})

/** The caller's own leg; null until a webhook reports it. */
export function callerLeg({ legs }: Session): Leg | null {
  return legs.find(({ purpose }) => purpose === 'caller') ?? null
}

/** The leg of an attempt's dial; null until it is known. */
export function dialLeg({ legs }: Session, attempt: number): Leg | null {
  return legs.find(({ purpose }) => attempt === attemptIn(purpose)) ?? null
}

/** Whether the caller was connected to the dialled party, by the bridge command's outcome or by its webhook. */
export function isBridged(session: Session, attempt: number): boolean {
  const bridged = dialLeg(session, attempt)?.bridgedAt ?? null
  return bridged !== null || session.completed[`bridge:${attempt}`]?.outcome === 'done'
}

/** The leg of a forward; null until it is known. */
export function forwardLeg({ legs }: Session): Leg | null {
  return legs.find(({ purpose }) => purpose !== null && purpose !== 'caller' && 'forward' in purpose) ?? null
}

/** The attempt that a leg is dialled for; null for any other leg. */
export function attemptIn(purpose: Leg['purpose']): number | null {
  return purpose !== null && purpose !== 'caller' && 'attempt' in purpose ? purpose.attempt : null
}
