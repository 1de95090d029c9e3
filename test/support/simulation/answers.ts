import { getCall } from '../../../queries/calls/get-call.ts'
import { listCalls } from '../../../queries/calls/list-calls.ts'
import { parseStreamName } from '../../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import type { SimulatedProcess } from './process.ts'
import { SIMULATED_START } from './world.ts'

const SUMS = ['revenueCents', 'payoutCents', 'profitCents', 'usageCents'] as const
const MOST_ROWS = 200

/**
 * Checks what a process answers to queries: every call can be read and is over, and totals equal the sums of the rows.
 */
export async function answerViolations(
  ask: SimulatedProcess['ask'],
  events: readonly RecordedEvent[],
  nowMs: number,
): Promise<readonly string[]> {
  const requests = { tenant: { workspaceId: WORKSPACE, timezone: 'UTC' }, surface: 'rest', minPosition: null } as const
  const now = new Date(nowMs + 1).toISOString()
  const answerOf = async (name: string, params: unknown, query: unknown): Promise<unknown> => {
    const answer = await ask({ ...requests, now, name, params, query })
    return isRefusal(answer) ? null : JSON.parse(new TextDecoder().decode(answer.bytes))
  }
  const broken: string[] = []
  const callIds = events.filter(({ type }) => type === 'CallArrived').map(({ stream }) => parseStreamName(stream).id)
  for (const id of callIds) {
    const { data, error } = getCall.response.safeParse(await answerOf(getCall.name, { id }, {}))
    if (!data) broken.push(`${id} cannot be read: ${error}`)
    else if (data.call.outcome === 'live' || data.call.settledAt === null) broken.push(`${id} reads as live`)
  }
  const window = { from: new Date(SIMULATED_START).toISOString(), to: now, pageSize: String(MOST_ROWS) }
  const page = listCalls.response.parse(await answerOf(listCalls.name, {}, listCalls.query.parse(window)))
  if (page.total !== callIds.length) broken.push(`The list shows ${page.total} calls of ${callIds.length}`)
  for (const figure of SUMS) {
    const sum = page.data.reduce((total, row) => total + row[figure], 0)
    if (page.stats[figure] !== sum) broken.push(`The list's ${figure} are ${page.stats[figure]}, its rows' ${sum}`)
  }
  return broken
}
