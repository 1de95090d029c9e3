import { describe, expect, it } from 'vitest'
import { SLICE_MS, webhookStats } from '../../../projections/delivery/webhook-stats.ts'
import { attemptedEvent, delivery } from '../../../src/domain/delivery/delivery.ts'
import { latencyPercentile } from '../../../src/domain/delivery/latency-buckets.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import {
  ACCEPTED,
  attemptInput,
  deliveryId,
  later,
  logged,
  webhookId,
} from '../../support/fixtures/delivery-fixture.ts'
import { project } from '../../support/fixtures/project.ts'
import { idOf, NOW, WORKSPACE } from '../../support/fixtures/spec.ts'

const HOUR_MS = 3_600_000
const QUARTER = SLICE_MS / 1_000

/** A request at so many seconds from the present, which is the begin of a quarter of an hour. */
function request(seconds: number, more: object = {}, of = webhookId): NewEvent {
  return attemptedEvent({ deliveryId, webhookId: of }, { ...attemptInput(1), occurredAt: later(seconds), ...more })
}
const slicesOf = async (...events: readonly NewEvent[]) => {
  const docs = Object.values(await project(webhookStats, logged([delivery, events])))
  return docs.map((doc) => webhookStats.doc.parse(doc)).toSorted((one, other) => one.fromMs - other.fromMs)
}

describe('the requests of an endpoint by quarter of an hour', () => {
  it('are counted, with the last of them', async () => {
    const slices = await slicesOf(
      request(1),
      request(60, { ...ACCEPTED, ms: 30 }),
      request(120, { status: 404, ms: 40 }),
    )
    expect(slices).toEqual([
      {
        workspaceId: WORKSPACE,
        webhookId,
        fromMs: Date.parse(NOW),
        attempts: 3,
        delivered: 1,
        failed: 2,
        latencies: { 30: 1, 40: 2 },
        lastStatus: 404,
        lastOk: false,
        lastMs: Date.parse(later(120)),
      },
    ])
  })

  it('begin at the quarter in which the request began', async () => {
    const seconds = [-0.001, 0, QUARTER - 0.001, QUARTER, 4 * QUARTER]
    const slices = await slicesOf(...seconds.map((at) => request(at)))
    expect(slices.map(({ fromMs, attempts }) => [(fromMs - Date.parse(NOW)) / SLICE_MS, attempts])).toEqual([
      [-1, 1],
      [0, 2],
      [1, 1],
      [4, 1],
    ])
  })

  it('show the request that began last, in whatever order they ended', async () => {
    const [slice] = await slicesOf(request(100, ACCEPTED), request(50, { status: 503 }))
    expect(slice).toMatchObject({ attempts: 2, lastStatus: 200, lastOk: true, lastMs: Date.parse(later(100)) })
  })

  it('are kept apart by endpoint', async () => {
    const slices = await slicesOf(request(1), request(1, {}, idOf(0xa1)), request(2, {}, idOf(0xa1)))
    expect(slices.map((slice) => [slice.webhookId, slice.attempts]).toSorted()).toEqual([
      [webhookId, 1],
      [idOf(0xa1), 2],
    ])
  })

  it('give percentiles within 2 % over all quarters', async () => {
    const durations = Array.from({ length: 200 }, (_, n) => 20 + n * 37)
    const slices = await slicesOf(...durations.map((ms, n) => request(n * 60, { ms })))
    expect(slices.length).toBeGreaterThan(10)
    for (const [share, exact] of [
      [0.5, durations[99]],
      [0.95, durations[189]],
    ] as const) {
      const shown = latencyPercentile(
        slices.map(({ latencies }) => latencies),
        share,
      )
      expect(Math.abs((shown ?? 0) - (exact ?? 0))).toBeLessThanOrEqual((exact ?? 0) * 0.02)
    }
  })

  it('are kept for as long as a window of 24 hours may begin in them', async () => {
    const [slice] = await slicesOf(request(QUARTER - 1))
    if (!slice) throw new Error('There is a slice.')
    const goes = webhookStats.expiresAt?.(slice) ?? 0
    expect(goes).toBeGreaterThanOrEqual(slice.fromMs + SLICE_MS + 24 * HOUR_MS)
    expect(goes).toBeLessThanOrEqual(slice.fromMs + 25 * HOUR_MS)
  })
})
