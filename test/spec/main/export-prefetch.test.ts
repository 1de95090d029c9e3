import { describe, expect, it } from 'vitest'
import type { CallsExportBatch, CallsExportRequest } from '../../../queries/calls/calls-export.ts'
import { withPrefetch } from '../../../src/main/read-side/export-prefetch.ts'
import { StoreUnavailable } from '../../../src/ports/read-store.ts'

const ask = { filter: {}, fromMs: 0, timezone: 'UTC', most: 100 }
const turns = async () => {
  for (let n = 0; n < 4; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Batches of ten rows, down to 0; keeps what was asked of it. */
function maker(fails: (requests: CallsExportRequest) => boolean = () => false) {
  const requests: CallsExportRequest[] = []
  const make = async (one: CallsExportRequest): Promise<CallsExportBatch> => {
    requests.push(one)
    if (fails(one)) throw new StoreUnavailable('away')
    const belowMs = one.belowMs > 10 ? one.belowMs - 10 : null
    return { bytes: new Uint8Array([one.belowMs]), rows: 10, belowMs }
  }
  return { requests, lines: withPrefetch(make) }
}

describe('batches that are made ahead', () => {
  it('are made once each, the next one after the one before was answered', async () => {
    const { requests, lines } = maker()
    let most = 100
    for (let belowMs: number | null = 30, made = 1; belowMs !== null; made += 1) {
      const batch: CallsExportBatch = await lines({ ...ask, file: 'a', belowMs, most })
      expect([...batch.bytes]).toEqual([belowMs])
      expect(requests).toHaveLength(made)
      await turns()
      expect(requests).toHaveLength(Math.min(made + 1, 3))
      belowMs = batch.belowMs
      most -= batch.rows
    }
    expect(requests).toEqual([30, 20, 10].map((belowMs, n) => ({ ...ask, belowMs, most: 100 - n * 10 })))
  })

  it('are of one file alone, and no other than the one that is asked for', async () => {
    const { requests, lines } = maker()
    await lines({ ...ask, file: 'a', belowMs: 30 })
    await turns()
    expect([...(await lines({ ...ask, file: 'b', belowMs: 20 })).bytes]).toEqual([20])
    expect([...(await lines({ ...ask, file: 'a', belowMs: 25 })).bytes]).toEqual([25])
    expect(requests.map(({ belowMs }) => belowMs)).toEqual([30, 20, 20, 25])
  })

  it('fail when requested, and are prepared again by the next request', async () => {
    let away = true
    const { lines } = maker(({ belowMs }) => belowMs === 20 && away)
    await lines({ ...ask, file: 'a', belowMs: 30 })
    await turns()
    await expect(lines({ ...ask, file: 'a', belowMs: 20 })).rejects.toThrow(StoreUnavailable)
    away = false
    expect([...(await lines({ ...ask, file: 'a', belowMs: 20 })).bytes]).toEqual([20])
  })

  it('of abandoned files are evicted', async () => {
    const { requests, lines } = maker()
    for (let n = 0; n < 9; n += 1) await lines({ ...ask, file: `file ${n}`, belowMs: 30 })
    await turns()
    const before = requests.length
    await lines({ ...ask, file: 'file 8', belowMs: 20 })
    expect(requests).toHaveLength(before)
    await lines({ ...ask, file: 'file 0', belowMs: 20 })
    expect(requests).toHaveLength(before + 1)
  })
})
