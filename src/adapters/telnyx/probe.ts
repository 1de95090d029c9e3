import type { Carrier, ProbeCommand, ProbeResult } from '../../ports/carrier.ts'
import { CarrierRefused } from '../../ports/carrier-numbers.ts'
import type { Clock } from '../../ports/clock.ts'
import { dialOutcomeOf } from './causes.ts'
import { DEFAULT_SETTINGS, type DialSettings } from './dial-settings.ts'
import { RING_GRACE_MS } from './pending-dial.ts'
import type { Leg } from './session.ts'
import type { Sessions } from './session-store.ts'
import type { Voice } from './voice.ts'

/** How often (ms) the session of a probe is read: its webhooks may arrive at another process. */
const POLL_MS = 200

interface ProbePorts {
  readonly clock: Clock
  readonly voice: Pick<Voice, 'probe' | 'hangup'>
  readonly sessions: Pick<Sessions, 'stateOf'>
  readonly dialSettings: (workspaceId: string, targetId: string) => Promise<DialSettings | null>
  /** A number of the workspace that may serve as caller id; null when it has none. */
  readonly numberOf: (workspaceId: string) => Promise<string | null>
}

function probeResultOf({ initiated, answeredAt, ended }: Leg, began: number): ProbeResult | null {
  const at = answeredAt ?? ended?.at
  if (at === undefined) return null
  const ms = Math.max(0, Date.parse(at) - (initiated ? Date.parse(initiated.at) : began))
  if (answeredAt !== null) return { outcome: 'answered', sipCode: null, ms }
  const outcome = ended ? dialOutcomeOf(ended) : 'failed'
  return { outcome: outcome === 'abandoned' ? 'failed' : outcome, sipCode: ended?.sipCode ?? null, ms }
}

/** Dials a destination without a caller and waits for its webhooks; an answered dial is hung up. */
export function createProbe({ clock, voice, sessions, dialSettings, numberOf }: ProbePorts): Carrier['probe'] {
  const pause = () => new Promise<void>((resolve) => clock.schedule(clock.now() + POLL_MS, resolve))

  return async (command: ProbeCommand) => {
    const { commandId, workspaceId, targetId, callerId, ringSeconds } = command
    const from = callerId ?? (await numberOf(workspaceId))
    if (from === null) throw new CarrierRefused('The workspace has no number that the dial could come from.')
    const settings = (await dialSettings(workspaceId, targetId)) ?? DEFAULT_SETTINGS
    const began = clock.now()
    const { outcome, leg, sentence } = await voice.probe(command, from, settings)
    if (outcome !== 'done' || leg === null) throw new CarrierRefused(sentence ?? 'The carrier did not take the dial.')
    const deadline = began + ringSeconds * 1_000 + RING_GRACE_MS
    while (clock.now() < deadline) {
      const { legs } = await sessions.stateOf(commandId)
      const dialled = legs.find(({ id }) => id === leg)
      const result = dialled && probeResultOf(dialled, began)
      if (result) return result
      await pause()
    }
    await voice.hangup(leg, commandId).catch(() => undefined)
    return { outcome: 'no_answer', sipCode: null, ms: clock.now() - began }
  }
}
