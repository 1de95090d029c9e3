import { routeCall } from '../../commands/routing/route-call.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { wallet } from '../../src/domain/money/wallet.ts'
import { blocklist } from '../../src/domain/routing/blocklist.ts'
import { NO_COUNTER } from '../../src/domain/routing/counters.ts'
import { ledger } from '../../src/domain/routing/ledger.ts'
import type { DecisionContext } from '../../src/kernel/command.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { largePlan, NOON, TARGETS } from './large-plan.ts'
import { type Figure, figureOf } from './measure.ts'

const DECISIONS = 500
const RUNS = 5
/** Milliseconds that a decision may take at the 99th percentile. */
const BOUND_MS = 1

/** Involuntary context switches so far. A decision that was interrupted by one is measured again. */
const timesSwitched = () => process.resourceUsage().involuntaryContextSwitches

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/**
 * The pure decision on an arriving call with its look-ups: all but one of 200 targets are skipped, each for its own
 * reason. The ceiling is the documented bound.
 */
export async function decision(): Promise<readonly Figure[]> {
  const { writer, workspaceId, call } = await largePlan()
  const state = await writer.stateOf(ledger, workspaceId)
  const reads = {
    workspace: await writer.stateOf(workspace, workspaceId),
    blocklist: await writer.stateOf(blocklist, workspaceId),
    wallet: await writer.stateOf(wallet, workspaceId),
  }
  const context: Omit<DecisionContext<typeof routeCall.reads>, 'seed'> = {
    now: new Date(NOON).toISOString(),
    workspaceId,
    actor: { type: 'carrier', id: null, name: 'Bench' },
    commandId: 'bench',
    newId: () => '',
    reads,
    revisions: {},
    lookUp: () => null,
  }

  function decide(n: number): number {
    // The ledger changes between calls, so cached results of the last decision do not apply.
    const moved = { ...state, counters: state.counters.set(`bench:${n}`, NO_COUNTER) }
    const switches = timesSwitched()
    const input = call(n)
    const begun = performance.now()
    routeCall.lookups(input, moved, reads)
    const outcome = routeCall.decide(input, moved, { ...context, seed: n * 2_654_435_761 })
    const ms = performance.now() - begun
    const [event] = isRefusal(outcome) ? [] : outcome
    const full = event?.type === 'CallAdmitted' && event.data.claim && event.data.skipped.length === TARGETS - 1
    if (!full) throw new Error('The decision did not go down the whole plan.')
    return timesSwitched() === switches ? ms : decide(n)
  }

  for (let n = 0; n < DECISIONS; n++) decide(n)
  const runs = Array.from({ length: RUNS }, (_, run) =>
    Float64Array.from({ length: DECISIONS }, (_, n) => decide(run * DECISIONS + n)).sort(),
  )
  const figure = (name: string, share: number) =>
    figureOf(
      `decision on 200 targets and 1,000 lanes, ${name}`,
      'ms',
      { atMost: 1 },
      runs.map((sorted) => ({ ours: percentile(sorted, share), ceiling: BOUND_MS })),
    )
  return [figure('p50', 0.5), figure('p99', 0.99)]
}
