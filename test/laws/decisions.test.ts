import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ledger } from '../../src/domain/routing/ledger.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { mismatches, replayDecisions } from '../support/fixtures/decision-replay.ts'
import { createHistory, type GeneratedStep, stepsOf } from '../support/fixtures/history.ts'
import { commands } from '../support/fixtures/registry.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { runSystem } from '../support/simulation/system.ts'
import { buildSimulatedWorld } from '../support/simulation/world.ts'

const SEEDS = 25

/** Every command many times, so that calls find records to act on. */
const rounds: readonly GeneratedStep[] = Array.from({ length: 40 }, (_, round) =>
  commands.map(({ name }, index) => ({ name, seed: round * 1_009 + index })),
).flat()

/** The input without its seed, which the log records as the decision's own. */
const unseeded = (input: unknown) => (input instanceof Object && 'seed' in input ? { ...input, seed: null } : input)

/** Executes the steps, replays every decision on a call, and checks that the log holds the inputs as given. */
async function judge(steps: readonly GeneratedStep[]): Promise<ReadonlySet<string>> {
  const history = createHistory()
  const inputs = new Map<string, unknown>()
  for (const step of steps) {
    const given = await history.executeStep(step)
    if (given && !isRefusal(given.outcome)) inputs.set(given.commandId, unseeded(given.input))
  }
  const rulings = await replayDecisions(history.log)
  for (const { decided, received } of rulings) {
    const input = inputs.get(decided.events[0].meta.commandId)
    expect(received.command.input.parse(received.input), received.command.name).toEqual(input)
  }
  expect(mismatches(rulings)).toEqual([])
  return new Set(rulings.flatMap(({ decided }) => decided.events.map(({ type }) => type)))
}

/** Number of dials of targets that were busy when their call's plan was made. */
function secondTries(events: readonly RecordedEvent[]): number {
  const ledgerEventsIn = events.filter(({ stream }) => stream.startsWith(`${ledger.name}-`))
  const busy = new Set(
    ledgerEventsIn.flatMap(({ type, data }) => {
      if (type !== 'CallAdmitted') return []
      const { arrival, skipped } = ledger.events.CallAdmitted.parse(data)
      return skipped.map(({ targetId, reason }) => `${arrival.callId} ${targetId} ${reason}`)
    }),
  )
  return ledgerEventsIn.filter(({ type, data }) => {
    if (type !== 'TargetClaimed') return false
    const { callId, claim } = ledger.events.TargetClaimed.parse(data)
    return busy.has(`${callId} ${claim.target.id} concurrency`)
  }).length
}

describe('every recorded decision on a call', () => {
  test('replays to the same result from its recorded inputs', () =>
    fc.assert(
      fc.asyncProperty(stepsOf(commands, 80), async (steps) => {
        await judge(steps)
      }),
      { numRuns: 40, seed: 1 },
    ))

  test('replays to the same result in a long history of all commands', async () => {
    expect((await judge(rounds)).size).toBeGreaterThan(0)
  })

  test(`replays to the same result after ${SEEDS} runs with several routers, crashes and lost answers`, {
    timeout: 120_000,
  }, async () => {
    const world = await buildSimulatedWorld()
    const decided = new Set<string>()
    let triedAgain = 0
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { events } = await runSystem(world, { seed })
      const log = createMemoryLog([...world.events, ...events])
      const rulings = await replayDecisions(log)
      expect(mismatches(rulings), `seed ${seed}`).toEqual([])
      for (const { type } of rulings.flatMap((ruling) => ruling.decided.events)) decided.add(type)
      triedAgain += secondTries(events)
    }
    expect(triedAgain).toBeGreaterThan(0)
    for (const type of ['CallAdmitted', 'CallRefused', 'ClaimReleased', 'TargetClaimed', 'PlanSpent']) {
      expect(decided).toContain(type)
    }
  })
})
