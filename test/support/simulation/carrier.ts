import type { Carrier, DialCommand, ReleaseCommand } from '../../../src/ports/carrier.ts'
import { createLineEvents, type Line, type LineContext } from './carrier-lines.ts'

/** A call that is placed on the carrier. */
export interface PlacedCall {
  readonly workspaceId: string
  readonly callId: string
  readonly to: string
  readonly from: string | null
}

/** The carrier outside the platform. It never crashes, and executes each command once. */
export interface SimulatedCarrier {
  readonly place: (call: PlacedCall) => void
  readonly commands: Pick<Carrier, 'dial' | 'release'>
  /** Number of calls on the line. */
  readonly liveCalls: () => number
  /** A sentence for each command that no carrier may be given. */
  readonly violations: readonly string[]
}

const MOST_SECONDS = 1_200
const RELEASE_SECONDS: Readonly<Record<ReleaseCommand['action']['kind'], number>> = {
  hangup: 0,
  message: 5,
  forward: 30,
}

const newLine = ({ workspaceId, callId }: PlacedCall): Line => ({
  workspaceId,
  callId,
  carrierCallId: `line-${callId}`,
  over: false,
  up: new Map(),
  released: false,
  cancels: [],
})

/** Why a line's state forbids a dial. */
const dialViolations = ({ callId, up, released }: Line, targetId: string): readonly string[] => [
  ...(up.size > 0 ? [`${callId} was to dial ${targetId} while it had another target`] : []),
  ...(released ? [`${callId} was to dial ${targetId} after it was released`] : []),
]

/** Creates a carrier. `notify` delivers its notices, retrying until they are accepted. */
export function createSimulatedCarrier(
  options: LineContext & {
    /** The number of calls that each target may have at once. */
    readonly lineCaps: ReadonlyMap<string, number>
  },
): SimulatedCarrier {
  const { chance, behaviour, lineCaps, notify } = options
  const lines = new Map<string, Line>()
  const executed = new Set<string>()
  const violations: string[] = []
  const { after, keyOf, instant, end, answer, fail } = createLineEvents(options)
  const liveOn = (targetId: string) =>
    [...lines.values()].flatMap(({ up }) => [...up.values()]).filter((dial) => dial.targetId === targetId).length

  async function dial({
    commandId,
    carrierCallId,
    attempt,
    targetId,
    ringSeconds,
    record,
  }: DialCommand): Promise<void> {
    const line = lines.get(carrierCallId)
    if (executed.has(commandId) || !line || line.over) return
    executed.add(commandId)
    violations.push(...dialViolations(line, targetId))
    line.up.set(attempt, { targetId, record, connected: false })
    const cap = lineCaps.get(targetId)
    if (cap !== undefined && liveOn(targetId) > cap)
      violations.push(`${targetId} was to be dialled over its ${cap} at once`)
    const answers = chance.odds(behaviour.answers)
    const rings = chance.between(0, Math.max(0, ringSeconds - 1))
    after(line, rings, () => (answers ? answer(line, attempt) : fail(line, attempt)))
  }

  async function release({ commandId, carrierCallId, action }: ReleaseCommand): Promise<void> {
    const line = lines.get(carrierCallId)
    if (executed.has(commandId) || !line || line.over) return
    executed.add(commandId)
    line.released = true
    after(line, RELEASE_SECONDS[action.kind], () => end(line, 'platform'))
  }

  return {
    violations,
    commands: { dial, release },
    place(call) {
      const line = newLine(call)
      const { carrierCallId } = line
      lines.set(carrierCallId, line)
      const arrival = { ...keyOf(line), carrierCallId, to: call.to, from: call.from, sipHeaders: {}, at: instant() }
      notify({ type: 'call-arrived', ...arrival })
      after(line, chance.between(...behaviour.patience), () => {
        if (![...line.up.values()].some(({ connected }) => connected)) end(line, 'caller')
      })
      after(line, MOST_SECONDS, () => end(line, 'caller'))
    },
    liveCalls: () => [...lines.values()].filter(({ over }) => !over).length,
  }
}
