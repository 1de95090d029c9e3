import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AuctionPart, Load, LoadResult } from './auction-process.ts'
import { alternate, type Figure, figureOf, median, type Pair } from './measure.ts'
import type { OwnTime } from './own-time.ts'
import { withDirectory } from './temp-directory.ts'

/** Bidders of each auction. */
const BIDDERS = 10
const CONNECTIONS = 64
const SECONDS = 5
/** A load before its own time is measured: connections to bidders end when they are idle. */
const WARM_SECONDS = 2
const OWN_TIME_RUNS = 3
/** Own time (ms) that an auction may take, and how much longer than the bare one. */
const OWN_P50_MS = 2
const OWN_P99_MS = 5
/** Size of the event of a ping without bidders, about. */
const EVENT_BYTES = 2_600

interface Started {
  readonly child: ChildProcess
  // biome-ignore lint/suspicious/noExplicitAny: what each part answers is its own.
  readonly opened: any
}

async function start(part: AuctionPart): Promise<Started> {
  const child = fork(join(import.meta.dirname, 'auction-process.ts'), [JSON.stringify(part)], {
    execArgv: ['--expose-gc'],
  })
  const [opened] = await once(child, 'message')
  return { child, opened }
}

/** The processes of a run: the platform, the bidders, a bare server and the load. */
export interface AuctionProcesses {
  readonly ours: Started
  readonly bare: Started
  readonly ask: <Answer>(whom: 'ours' | 'bare' | 'bidders' | 'load', message: object | string) => Promise<Answer>
  readonly close: () => Promise<void>
}

/** Starts each part in a process of its own. */
export async function startAuctions(
  directory: string,
  { hostile = false }: { readonly hostile?: boolean },
): Promise<AuctionProcesses> {
  const bidders = await start({ part: 'bidders', hostile })
  const bidUrl: string = bidders.opened.url
  const asking = { bidUrl, bidders: BIDDERS }
  const bare = await start({ part: 'bare', ...asking, directory, eventBytes: EVENT_BYTES })
  const ours = await start({ part: 'ours', ...asking, directory: join(directory, 'ours') })
  const load = await start({ part: 'load' })
  const parts = { ours, bare, bidders, load }
  return {
    ours,
    bare,
    async ask(whom, message) {
      const { child } = parts[whom]
      child.send(message)
      const [answer] = await once(child, 'message')
      return answer
    },
    async close() {
      const all = [ours, bare, load, bidders].map(({ child }) => child)
      const ended = all.map((child) => once(child, 'exit'))
      for (const child of all) child.disconnect()
      await Promise.all(ended)
    },
  }
}

type What = Omit<Load, 'connections' | 'seconds'> & Partial<Pick<Load, 'connections' | 'seconds'>>

/** Runs loads on the processes, each of which has to be answered as a whole. */
function createRuns({ ask }: Pick<AuctionProcesses, 'ask'>) {
  async function run(what: What): Promise<LoadResult> {
    const result = await ask<LoadResult>('load', { connections: CONNECTIONS, seconds: SECONDS, ...what })
    if (result.failed > 0) throw new Error(`${result.failed} requests failed at ${what.url}.`)
    return result
  }
  return {
    run,
    perSecond: async (what: What) => (await run(what)).perSecond,
    /** Pings a second, each of which asks all bidders. */
    async auctionsPerSecond(what: What) {
      const asked = async () => (await ask<{ requests: number }>('bidders', 'asked')).requests
      const before = await asked()
      const { answered, perSecond } = await run(what)
      const share = ((await asked()) - before) / (answered * BIDDERS)
      if (share < 1) throw new Error(`Only ${(share * 100).toFixed(1)} % of the bidders were asked at ${what.url}.`)
      return perSecond
    },
    /** The own time of the requests of a load. */
    async ownTime(whom: 'ours' | 'bare', what: What) {
      await run({ ...what, seconds: WARM_SECONDS })
      await ask(whom, 'own-time')
      await run(what)
      return ask<OwnTime>(whom, 'own-time')
    },
  }
}

const perPing = (pairs: readonly Pair[]) =>
  pairs.map(({ ours, ceiling }) => ({ ours: 1_000 / ours, ceiling: 1_000 / ceiling }))

/** Measures auctions beside a bare server that asks the same bidders, and pings without bidders beside a bare durable append. */
export async function auctions(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const { ours, bare, ask, close } = await startAuctions(directory, {})
    const { perSecond, auctionsPerSecond, ownTime } = createRuns({ ask })
    const { url, bidderKeys, fixedKeys } = ours.opened
    const bareUrl: string = bare.opened.url
    const [asking, bareAsking] = [
      { url, keys: bidderKeys },
      { url: `${bareUrl}/bidders`, keys: ['none'] },
    ]
    const asked = await alternate(
      () => auctionsPerSecond(asking),
      () => auctionsPerSecond(bareAsking),
    )
    const plain = (connections: number) =>
      alternate(
        () => perSecond({ url, keys: fixedKeys, connections }),
        () => perSecond({ url: `${bareUrl}/append`, keys: ['none'], connections }),
      )
    const [single, many] = [await plain(1), await plain(CONNECTIONS)]
    const rate = Math.floor(median(asked.map((pair) => pair.ours)) / 2)
    const own: { readonly ours: OwnTime; readonly bare: OwnTime }[] = []
    for (let n = 0; n < OWN_TIME_RUNS; n += 1)
      own.push({
        bare: await ownTime('bare', { ...bareAsking, rate }),
        ours: await ownTime('ours', { ...asking, rate }),
      })
    await close()
    const p50 = own.map((each) => ({ ours: each.ours.p50, ceiling: OWN_P50_MS }))
    const p99 = own.map((each) => ({ ours: each.ours.p99, ceiling: each.bare.p99 + OWN_P99_MS }))
    const at = `at ${rate} auctions/s`
    return [
      figureOf('auctions, 10 bidders at 20 ms', 'auctions/s', { atLeast: 0.4 }, asked),
      figureOf(`own time ${at}: p50 beside ${OWN_P50_MS} ms`, 'ms', { atMost: 1 }, p50),
      figureOf(`own time ${at}: p99 beside the bare one's + ${OWN_P99_MS} ms`, 'ms', { atMost: 1 }, p99),
      figureOf('ping without bidders beside a durable append', 'ms', { atMost: 2.5 }, perPing(single)),
      figureOf(`the same, ${CONNECTIONS} at once`, 'ms', { atMost: 2.5 }, perPing(many)),
    ]
  })
}
