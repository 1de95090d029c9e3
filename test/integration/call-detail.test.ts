import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { callLog } from '../../projections/calls/call-log.ts'
import { callStory } from '../../projections/calls/call-story.ts'
import { getCall } from '../../queries/calls/get-call.ts'
import { openSqliteReadStore } from '../../src/adapters/sqlite/read-store.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { instantAfter } from '../support/fixtures/call-world.ts'
import { converted, events, live, unrouted } from '../support/fixtures/logged-calls.ts'
import { fillStore, runQuery } from '../support/fixtures/query-fixture.ts'
import { idOf, WORKSPACE } from '../support/fixtures/spec.ts'

type Detail = z.infer<typeof getCall.response>

let folder: string
let store: ReadStore

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'calls-'))
  store = await openSqliteReadStore(join(folder, 'views.db'))
  await fillStore(store, [callLog, callStory], events)
})

afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

describe('a single call', () => {
  const read = (id: string | undefined, workspaceId = WORKSPACE) =>
    runQuery<Detail>(getCall, store, { id: id ?? '', workspaceId })

  it('shows its whole story and its money', async () => {
    const { call: detail, story } = await read(converted)
    expect(detail).toMatchObject({
      id: converted,
      direction: 'inbound',
      attribution: 'tracking_number',
      routingMode: 'priority',
      answeredAt: instantAfter(3, instantAfter(-4 * 3_600)),
      hungUpBy: 'agent',
      endedReason: null,
      attemptCount: 1,
      deliveryMode: 'pstn',
      dialedNumberId: expect.any(String),
      numberPoolId: null,
      dniSessionId: null,
      tags: { callerState: 'CA' },
      tagSources: { callerState: 'system' },
      settlementMode: 'books_only',
      conversionSource: 'duration',
      frozen: { revenueCents: 4_000, payoutCents: 0, durationThresholdSeconds: 0, payoutWithheld: null },
      usageRateCents: 3,
      corrections: null,
      adjustments: [],
      recordings: [],
      recordingsReason: 'not_saved',
    })
    expect(story.summary).toEqual({ outcome: 'converted', sentence: 'Converted: $40.00 revenue, $0.00 payout.' })
    expect(story.money).toMatchObject({
      converted: true,
      revenueCents: 4_000,
      profitCents: 4_000,
      usageCents: 6,
      frozenRevenueCents: 4_000,
      payoutMode: 'revshare',
      adjustments: [],
    })
  })

  it('shows for each attempt why it was lost', async () => {
    const { call: detail, story } = await read(unrouted)
    expect(detail).toMatchObject({
      outcome: 'unrouted',
      buyer: null,
      endedReason: 'all_targets_failed',
      recordingsReason: 'never_answered',
    })
    expect(story.attempts).toMatchObject([
      { outcome: 'busy', lossCode: 'busy', tone: 'warning', sipCode: 486, sipText: 'Busy Here', agentName: null },
      { outcome: 'no_answer', lossCode: 'no_answer', sipText: null },
    ])
    const { story: talking } = await read(live)
    expect(talking.attempts).toMatchObject([{ outcome: 'answered', lossCode: null, tone: 'success' }])
  })

  it('is not found in another workspace or when it does not exist', async () => {
    expect(await read(converted, idOf(77))).toMatchObject({ refused: 'call-not-found' })
    expect(await read(idOf(78))).toMatchObject({ refused: 'call-not-found' })
  })
})
