import { bookRows } from '../../projections/reporting/book-rows.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import { type Booked, type CallBooks, withChange } from '../../src/domain/reporting/book-rows.ts'
import type { DocumentWrite } from '../../src/ports/read-store.ts'
import { buildNames } from '../../src/runtime/projections/build-names.ts'
import { wholeCheckpoint } from '../support/memory/ownership.ts'

/** The build that the books are stored in. */
export const BOOKS = buildNames(bookRows)

const BATCH = 5_000
const DAY_MS = 86_400_000
/** The window over which calls are spread. */
export const WINDOW = { fromMs: Date.UTC(2025, 0, 1), toMs: Date.UTC(2026, 0, 2) } as const

export const WORKSPACE = '01900000-0000-7000-8000-000000000001'
const idOf = (kind: number, n: number) =>
  `0193a0b0-${String(kind).padStart(4, '0')}-7abc-8def-${String(n).padStart(12, '0')}`
const named = (kind: number, n: number) => ({ id: idOf(kind, n), name: `Record ${kind} ${n}` })
const STATES = ['CA', 'TX', 'NY', 'FL', 'IL', 'PA', 'OH', 'GA', 'NC', 'MI', null]

/** Every fifth call is lost, two in five convert, one in fifty is corrected days later. */
function changesOf(n: number, endedMs: number): readonly (readonly [ms: number, change: Partial<Booked>])[] {
  if (n % 5 === 0) return [[endedMs, { outcome: 'unrouted' }]]
  const revenueCents = 1_500 + (n % 4_000)
  const converted: Partial<Booked> = {
    outcome: 'converted',
    conversionSource: 'duration',
    revenueCents,
    payoutCents: 900,
  }
  return [
    [endedMs, { outcome: 'connected' }],
    ...(n % 5 < 3 ? [[endedMs + 1_000, converted] as const] : []),
    [endedMs + 5_000, { hasRecording: true }],
    [endedMs + 120_000, { usageCents: 3 * (1 + (n % 15)) }],
    ...(n % 50 === 1 ? [[endedMs + 3 * DAY_MS, { revenueCents: 100 }] as const] : []),
  ]
}

/** The books of the n-th of so many calls. */
export function generatedBooks(n: number, calls: number): CallBooks {
  const { fromMs, toMs } = WINDOW
  const startedMs = fromMs + Math.floor((n / calls) * (toMs - fromMs))
  const isLost = n % 5 === 0
  const talkSeconds = isLost ? 0 : 20 + ((n * 7) % 900)
  const begun: CallBooks = {
    workspaceId: WORKSPACE,
    seq: n + 1,
    ref: `CA-${String(n + 1).padStart(10, '0')}`,
    startedMs,
    callerReversed: '99105555141',
    callerState: STATES[n % STATES.length] ?? null,
    dialedNumber: `+1415555${1_000 + (n % 200)}`,
    numberId: idOf(1, n % 200),
    numberPoolId: null,
    attribution: 'tracking_number',
    campaign: named(2, n % 12),
    publisher: named(3, n % 30),
    buyer: isLost ? null : named(4, n % 25),
    target: isLost ? null : named(5, n % 60),
    status: isLost ? 'rejected' : 'completed',
    reasonCode: isLost ? 'no_targets' : null,
    talkSeconds,
    dials: null,
    lost: isLost ? { reason: 'no_targets', targetId: null, targetName: null, cents: 0 } : null,
    tags: [[0, { dialedNumber: '+14155550100', callerState: 'CA' }]],
    rows: '',
    outcome: 'live',
    conversionSource: null,
    hasRecording: false,
    revenueCents: 0,
    payoutCents: 0,
    usageCents: 0,
  }
  let books = begun
  for (const [ms, change] of changesOf(n, startedMs + talkSeconds * 1_000)) books = withChange(books, change, ms)
  return books
}

/** Stores the books of so many calls in a file. */
export async function storeBooks(views: string, calls: number): Promise<void> {
  const store = await openSqliteReadStore(views)
  const { collection, checkpoint } = BOOKS
  await store.ensure([
    { name: collection, indexes: [...bookRows.indexes, { workspaceId: 1, _position: 1 }], columns: [] },
  ])
  const name = wholeCheckpoint(checkpoint)
  let expected: number | null = null
  for (let from = 0; from < calls; from += BATCH) {
    const writes = Array.from({ length: Math.min(BATCH, calls - from) }, (_, k): DocumentWrite => {
      const n = from + k
      return { collection, id: idOf(9, n), doc: generatedBooks(n, calls), position: n + 1 }
    })
    const position = from + writes.length
    if (!(await store.commit(writes, { name, expected, next: { position, at: null } })))
      throw new Error('The books were not stored.')
    expected = position
  }
  await store.close()
}
