import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadResult } from './auction-process.ts'
import { type AuctionProcesses, startAuctions } from './auctions.ts'
import { type Figure, figureOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

/** Pings of the rounds: beside hostile bidders and the work of others, and at a steady rate. */
const HOSTILE = { rate: 200, seconds: 100, tmaxMs: 1_000, connections: 400 } as const
const STEADY = { rate: 600, seconds: 60, connections: 64 } as const
const WARM_MS = 10_000
/** Hostile pings before those that count: a process that has just started compiles what it runs. */
const WARM_SECONDS = 10
/** Publishers of the steady round: one in four asks ten bidders. */
const STEADY_KEYS = 8
const MEGABYTE = 1024 ** 2
const MEMORY_BYTES = 30 * MEGABYTE

/** Lists, exports and rebuilds again and again until the signal. */
async function workBeside({ opened }: AuctionProcesses['ours'], signal: AbortSignal): Promise<void> {
  const { baseUrl, apiKey, session } = opened
  const read = async (path: string, token: string, method = 'GET') => {
    const answer = await fetch(`${baseUrl}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
    await answer.arrayBuffer()
  }
  while (!signal.aborted) {
    await read('/api/v1/pings?pageSize=200', apiKey)
    await read('/api/tracking/pings/export.csv', session)
    await read('/api/tracking/pings/summary', session)
    await read('/api/operator/projections/ping-ledger/rebuild', opened.operatorToken, 'POST')
    await sleep(100)
  }
}

const countOf = async ({ opened }: AuctionProcesses['ours']): Promise<number> => {
  const headers = { authorization: `Bearer ${opened.apiKey}` }
  const answer = await fetch(`${opened.baseUrl}/api/v1/pings?pageSize=1`, { headers })
  const { total } = (await answer.json()) as { total: number }
  return total
}

/** Waits until the ledger has as many rows as pings were answered; resolves to how many it lacks after ten seconds. */
async function missingRows(ours: AuctionProcesses['ours'], expected: number): Promise<number> {
  for (let n = 0; n < 100; n += 1) {
    if ((await countOf(ours)) >= expected) return 0
    await sleep(100)
  }
  return expected - (await countOf(ours))
}

const exact = (name: string, unit: string, ours: number, most: number) =>
  figureOf(name, unit, { atMost: most === 0 ? 0 : 1 }, [{ ours, ceiling: most === 0 ? 1 : most }])

/** Answers beyond their time budget while bidders misbehave and others work, and rows and memory at a steady rate. */
export function auctionLoad(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const { ours, ask, close } = await startAuctions(directory, { hostile: true })
    const beside = new AbortController()
    const working = workBeside(ours, beside.signal)
    const { url, bidderKeys, fixedKeys } = ours.opened
    await ask<LoadResult>('load', { ...HOSTILE, seconds: WARM_SECONDS, url, keys: bidderKeys })
    const hostile = await ask<LoadResult>('load', { ...HOSTILE, url, keys: bidderKeys })
    beside.abort()
    await working
    await close()
    const steady = await startAuctions(`${directory}/steady`, {})
    const some = { ours: steady.ours.opened, ask: steady.ask }
    const asking = some.ours.bidderKeys.slice(0, STEADY_KEYS / 4)
    const keys = [...asking, ...some.ours.fixedKeys.slice(0, STEADY_KEYS - asking.length)]
    const running = some.ask<LoadResult>('load', { ...STEADY, url: some.ours.url, keys })
    await sleep(WARM_MS)
    const before = await some.ask<{ bytes: number }>('ours', 'memory')
    const result = await running
    const after = await some.ask<{ bytes: number }>('ours', 'memory')
    const missing = await missingRows(steady.ours, result.answered)
    await steady.close()
    if (fixedKeys.length === 0) throw new Error('There are no keys.')
    return [
      exact(
        `late answers of ${hostile.answered.toLocaleString('en-US')}, ${hostile.failed} failed`,
        'answers',
        hostile.late,
        0,
      ),
      exact(
        `missing rows of ${result.answered.toLocaleString('en-US')} pings, ${result.failed} failed`,
        'rows',
        missing,
        0,
      ),
      exact(
        'memory growth after ten seconds',
        'MB',
        Math.max(0, after.bytes - before.bytes) / MEGABYTE,
        MEMORY_BYTES / MEGABYTE,
      ),
    ]
  })
}
