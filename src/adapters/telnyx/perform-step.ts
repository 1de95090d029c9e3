import type { CarrierNotice, NoticeListener } from '../../ports/carrier.ts'
import type { Clock } from '../../ports/clock.ts'
import { unsealHeaders } from '../../ports/sealed-headers.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { Perform } from './attempts.ts'
import { DEFAULT_SETTINGS, type DialSettings } from './dial-settings.ts'
import { commandIdOf, DONE, type StepOutcome } from './run-command.ts'
import type { ReceivedWebhook, Session } from './session.ts'
import { receiveWebhook, recognizeCall } from './session-commands.ts'
import type { Sessions } from './session-store.ts'
import type { Voice } from './voice.ts'

export interface PerformerPorts {
  readonly clock: Clock
  readonly secrets: Pick<Secrets, 'unseal'>
  readonly voice: Voice
  readonly sessions: Sessions
  readonly listener: NoticeListener
  /** The workspace that takes calls on a number; null when none does. */
  readonly workspaceOf: (e164: string) => Promise<string | null>
  /** The current dial settings of a target, its secrets unsealed; null when it has none of its own. */
  readonly dialSettings: (workspaceId: string, targetId: string) => Promise<DialSettings | null>
}

/** Creates the function that does steps: commands to Telnyx, notices to the platform. */
export function createPerformer(ports: PerformerPorts): Perform {
  const { clock, secrets, voice, sessions, listener, workspaceOf, dialSettings } = ports

  function unsealed(id: string, notice: CarrierNotice): CarrierNotice {
    if (notice.type !== 'call-arrived') return notice
    return { ...notice, sipHeaders: unsealHeaders(notice.sipHeaders, id, secrets) }
  }

  /** Asks Telnyx whether a call still exists; if not, records its end as if the lost webhook had arrived. */
  async function poll(id: string, leg: string, { lastActivityAt }: Session): Promise<StepOutcome> {
    const { alive, endedAt } = await voice.statusOf(leg)
    if (alive) return DONE
    const endsAt = endedAt ?? lastActivityAt
    const at = new Date(endsAt === null ? clock.now() : Date.parse(endsAt)).toISOString()
    const news = { type: 'ended', cause: 'unspecified', source: 'unknown', sipCode: null } as const
    const webhook: ReceivedWebhook = { webhookId: `look:${leg}`, leg, purpose: null, at, news }
    await sessions.execute(receiveWebhook, { sessionId: id, webhook })
    return DONE
  }

  return async (id, session, { name, act }, refusals) => {
    // A refused command was not executed: sent again, it needs another id.
    const command = commandIdOf(id, refusals === 0 ? name : `${name}#${refusals}`)
    switch (act.do) {
      case 'recognize': {
        const workspaceId = act.to === null ? null : await workspaceOf(act.to)
        await sessions.execute(recognizeCall, { sessionId: id, workspaceId })
        return DONE
      }
      case 'notify':
        await listener(unsealed(id, act.notice))
        return DONE
      case 'poll':
        return poll(id, act.leg, session)
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
}
