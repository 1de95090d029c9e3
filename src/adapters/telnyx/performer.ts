import type { CarrierNotice, NoticeListener } from '../../ports/carrier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Secrets } from '../../ports/secrets.ts'
import { unsealHeaders } from './headers.ts'
import type { Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import type { Step } from './step.ts'
import { commandIdOf, type DialSettings, type StepOutcome, type Voice } from './voice.ts'

export interface PerformerPorts {
  readonly clock: Clock
  readonly random: Random
  readonly secrets: Pick<Secrets, 'unseal'>
  readonly voice: Voice
  readonly sessions: Sessions
  readonly listener: NoticeListener
  /** The workspace whose number this is, if it takes calls on it; null when none does. */
  readonly workspaceOf: (e164: string) => Promise<string | null>
  /** How a target is dialled now; null for one that has no settings of its own. */
  readonly dialSettings: (workspaceId: string, targetId: string) => Promise<DialSettings | null>
}

const DONE: StepOutcome = { outcome: 'done', leg: null, sentence: null }
const DEFAULT_SETTINGS: DialSettings = { sendDigits: null, sip: null }

/** Does steps: at Telnyx, or by telling the platform. */
export function createPerformer(ports: PerformerPorts) {
  const { clock, random, secrets, voice, sessions, listener, workspaceOf, dialSettings } = ports

  /** Does a step. @throws Error when it is to be done again */
  async function perform(id: string, session: Session, { name, act }: Step, refusals: number): Promise<StepOutcome> {
    // What was refused was not done: it is another command when it is sent once more.
    const command = commandIdOf(id, refusals === 0 ? name : `${name}#${refusals}`)
    switch (act.do) {
      case 'recognize': {
        const workspaceId = act.to === null ? null : await workspaceOf(act.to)
        const data = { sessionId: id, workspaceId, callId: random.uuid() }
        await sessions.add(id, ({ recognized }) => (recognized ? null : { type: 'TelnyxCallRecognized', data }))
        return DONE
      }
      case 'tell':
        await listener(opened(act.notice))
        return DONE
      case 'look':
        return look(id, act.leg, session)
      case 'dial': {
        const { workspaceId, targetId } = act.dial
        return voice.dial(act.caller, id, act.dial, (await dialSettings(workspaceId, targetId)) ?? DEFAULT_SETTINGS)
      }
      case 'speak':
      case 'ask':
        return voice[act.do](act.leg, act.text, command)
      case 'bridge':
        return voice.bridge(act.leg, act.with, command)
      case 'transfer':
        return voice.transfer(act.caller, id, act.to, command)
      default:
        return voice[act.do](act.leg, command)
    }
  }

  function opened(notice: CarrierNotice): CarrierNotice {
    if (notice.type !== 'call-arrived') return notice
    return { ...notice, sipHeaders: unsealHeaders(notice.sipHeaders, secrets) }
  }

  /** Asks whether a call is still there; its end is taken as told where it is not. */
  async function look(id: string, leg: string, { lastActivityAt }: Session): Promise<StepOutcome> {
    const { alive, endedAt } = await voice.look(leg)
    if (alive) return DONE
    const at =
      endedAt === null ? (lastActivityAt ?? new Date(clock.now()).toISOString()) : new Date(endedAt).toISOString()
    const news = { type: 'ended', cause: 'unspecified', source: 'unknown', sipCode: null } as const
    const told = { webhookId: `look:${leg}`, leg, purpose: null, at, news }
    await sessions.add(id, ({ webhooks }) =>
      webhooks.includes(told.webhookId) ? null : { type: 'TelnyxWebhookTaken', data: told },
    )
    return DONE
  }

  return perform
}
