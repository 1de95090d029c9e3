import { callColumns } from '../../projections/calls/call-log.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import type { Doc, DocumentWrite } from '../../src/ports/read-store.ts'
import { buildNames } from '../../src/runtime/projections/build-names.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'

/** The build that generated rows are stored in: documents with the call log's columns and nothing else. */
export const GENERATED = buildNames({ name: 'call-log', version: Number(callColumns.collection.split('_v')[1]) })

const BATCH = 5_000
const FIRST_MS = Date.UTC(2026, 0, 1)
const MONTHS_MS = 180 * 86_400_000

/** The n-th workspace. */
export function workspaceOf(n: number): string {
  return `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`
}

const idOf = (kind: number, n: number) =>
  `0193a0b0-${String(kind).padStart(4, '0')}-7abc-8def-${String(n).padStart(12, '0')}`
const STATES = ['CA', 'TX', 'NY', 'FL', 'IL', 'PA', 'OH', 'GA', 'NC', 'MI', null]
const OUTCOMES = ['connected', 'converted', 'missed', 'unrouted', 'connected'] as const

function generatedDoc(workspaceId: string, n: number, rows: number): Doc {
  const outcome = OUTCOMES[n % OUTCOMES.length] ?? 'missed'
  const [revenueCents, payoutCents] = outcome === 'converted' ? [1_500 + (n % 4_000), 900 + (n % 2_000)] : [0, 0]
  return {
    workspaceId,
    seq: n + 1,
    startedMs: FIRST_MS + Math.floor((n / rows) * MONTHS_MS),
    talkSeconds: (n * 7) % 900,
    revenueCents,
    payoutCents,
    profitCents: revenueCents - payoutCents,
    usageCents: n % 60,
    connectedCount: outcome === 'connected' || outcome === 'converted' ? 1 : 0,
    convertedCount: outcome === 'converted' ? 1 : 0,
    unroutedCount: outcome === 'unrouted' ? 1 : 0,
    missedCount: outcome === 'missed' ? 1 : 0,
    liveCount: 0,
    status: 'completed',
    outcome,
    reasonCode: outcome === 'unrouted' ? 'no_targets' : null,
    hasRecording: n % 2 === 0,
    numberId: idOf(1, n % 200),
    callerState: STATES[n % STATES.length] ?? null,
    attribution: 'number',
    conversionSource: outcome === 'converted' ? 'duration' : null,
    campaign: { id: idOf(2, n % 12) },
    publisher: { id: idOf(3, n % 30) },
    buyer: { id: idOf(4, n % 25) },
    target: { id: idOf(5, n % 60) },
  }
}

/** Stores so many rows for each of the workspaces in a file. */
export async function generateRows(views: string, workspaces: number, rows: number): Promise<void> {
  const store = await openSqliteReadStore(views)
  const { collection, checkpoint } = GENERATED
  const indexes = [
    { workspaceId: 1, [callColumns.time]: -1 },
    { workspaceId: 1, _position: 1 },
  ] as const
  const { key, columns } = callColumns
  const shared = Object.entries(columns).flatMap(([path, kind]) => (kind === 'code' ? [path] : []))
  await store.ensure([{ name: collection, indexes, columns: [key, ...Object.keys(columns)], shared }])
  let expected: number | null = null
  for (let w = 0; w < workspaces; w++) {
    for (let n = 0; n < rows; n += BATCH) {
      const begin = w * rows + n
      const writes = Array.from(
        { length: Math.min(BATCH, rows - n) },
        (_, k): DocumentWrite => ({
          collection,
          id: idOf(9 + w, n + k),
          doc: generatedDoc(workspaceOf(w), n + k, rows),
          position: begin + k,
        }),
      )
      const next = { position: begin + writes.length - 1, at: null }
      if (!(await store.commit(writes, { name: wholeCheckpoint(checkpoint), expected, next })))
        throw new Error('The rows were not stored.')
      expected = next.position
    }
  }
  await store.close()
}
