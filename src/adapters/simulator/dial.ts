import { addMs } from '../../kernel/instant.ts'
import { dialResultOf, entryFor, STAYS_SECONDS, scriptKeyOf } from '../../ports/call-script.ts'
import type { DialCommand, ReleaseCommand } from '../../ports/carrier.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import type { SimulatedCallState } from './simulated-call.ts'

/** A dial as it is stored: its result is decided when the command is taken. */
export type SimulatedDial = SimulatedCallState['dials'][number]

function plus(instant: string, seconds: number, speed: number): string {
  return addMs(instant, (seconds * 1_000) / speed)
}

/** What a dial command leads to by the call's script: the n-th dial of a script key takes the n-th entry. */
export function dialOf(
  { script, speed }: PlacedCall,
  earlier: readonly SimulatedDial[],
  command: DialCommand,
): SimulatedDial {
  const { commandId, attempt, targetId, destination, ringSeconds, whisper, record, at } = command
  const input = { targetId, destination, ringSeconds, acceptDigit: whisper?.acceptDigit ?? null }
  const scripted = scriptKeyOf(script, input)
  const nth = earlier.filter((dial) => dial.scripted === scripted).length
  const result = dialResultOf(entryFor(script, input, nth), input)
  const { answered, whisperAccepted } = result
  const resultAt = plus(at, result.afterSeconds, speed)
  const dial = { commandId, attempt, targetId, scripted, answered, whisperAccepted, resultAt, record }
  if (result.answered) {
    const ends = { at: plus(resultAt, result.talkSeconds, speed), hungUpBy: result.hungUpBy }
    return { ...dial, outcome: null, sipCode: null, retryAfterSeconds: null, ends }
  }
  const { outcome, sipCode, retryAfterSeconds } = result
  return { ...dial, outcome, sipCode, retryAfterSeconds, ends: null }
}

/** When a released caller is off the line. */
export function releaseEnd({ speed }: PlacedCall, { action, at }: ReleaseCommand) {
  return { at: plus(at, STAYS_SECONDS[action.kind], speed), hungUpBy: 'platform' } as const
}
