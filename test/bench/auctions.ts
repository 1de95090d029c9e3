import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AuctionPart, Load, LoadResult } from './auction-process.ts'
import { alternate, type Figure, figureOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'

const CONNECTIONS = 64
const SECONDS = 5
/** Size of the event of a ping without bidders, about. */
const EVENT_BYTES = 2_600

async function start(part: AuctionPart) {
  const child = fork(join(import.meta.dirname, 'auction-process.ts'), [JSON.stringify(part)])
  const [opened] = await once(child, 'message')
  return { child, opened }
}

async function ask<Answer>(child: ChildProcess, message: object | string): Promise<Answer> {
  child.send(message)
  const [answer] = await once(child, 'message')
  return answer
}

/** Measures auctions beside a bare server that asks the same bidders, and pings without bidders beside a bare durable append. */
export async function auctions(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const bidders = await start({ part: 'bidders' })
    const bidUrl: string = bidders.opened.url
    const bare = await start({ part: 'bare', bidUrl, directory, eventBytes: EVENT_BYTES })
    const ours = await start({ part: 'ours', bidUrl, directory: join(directory, 'ours') })
    const load = await start({ part: 'load' })
    const run = (what: Omit<Load, 'connections' | 'seconds'>) =>
      ask<LoadResult>(load.child, { connections: CONNECTIONS, seconds: SECONDS, ...what })
    const perSecond = async (what: Omit<Load, 'connections' | 'seconds'>) => {
      const { failed, perSecond } = await run(what)
      if (failed > 0) throw new Error(`${failed} requests failed at ${what.url}.`)
      return perSecond
    }
    const { url, bidderKeys, fixedKeys } = ours.opened
    const bareUrl: string = bare.opened.url
    const asked = await alternate(
      () => perSecond({ url, keys: bidderKeys }),
      () => perSecond({ url: `${bareUrl}/bidders`, keys: ['none'] }),
    )
    const plain = await alternate(
      () => perSecond({ url, keys: fixedKeys }),
      () => perSecond({ url: `${bareUrl}/append`, keys: ['none'] }),
    )
    const rate = Math.floor((asked[0]?.ours ?? 0) / 2)
    const half = await alternate(
      async () => (await run({ url, keys: bidderKeys, rate })).p99,
      async () => (await run({ url: `${bareUrl}/bidders`, keys: ['none'], rate })).p99 + 5,
    )
    for (const { child } of [ours, bare, load, bidders]) child.disconnect()
    return [
      figureOf('auctions, 10 bidders at 20 ms', 'auctions/s', { atLeast: 0.4 }, asked),
      figureOf(
        'pings without bidders',
        's/ping',
        { atMost: 2.5 },
        plain.map(({ ours, ceiling }) => ({ ours: 1 / ours, ceiling: 1 / ceiling })),
      ),
      figureOf('p99 of auctions at half that rate beside the bare one + 5 ms', 'ms', { atMost: 1 }, half),
    ]
  })
}
