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
  readonly ask: <Answer>(whom: 'ours' | 'load', message: object | string) => Promise<Answer>
  readonly close: () => Promise<void>
}

/** Starts each part in a process of its own. */
export async function startAuctions(
  directory: string,
  { hostile = false }: { readonly hostile?: boolean },
): Promise<AuctionProcesses> {
  const bidders = await start({ part: 'bidders', hostile })
  const bidUrl: string = bidders.opened.url
  const bare = await start({ part: 'bare', bidUrl, directory, eventBytes: EVENT_BYTES })
  const ours = await start({ part: 'ours', bidUrl, directory: join(directory, 'ours') })
  const load = await start({ part: 'load' })
  const parts = { ours, load }
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

/** Measures auctions beside a bare server that asks the same bidders, and pings without bidders beside a bare durable append. */
export async function auctions(): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const { ours, bare, ask, close } = await startAuctions(directory, {})
    const run = (what: Omit<Load, 'connections' | 'seconds'>) =>
      ask<LoadResult>('load', { connections: CONNECTIONS, seconds: SECONDS, ...what })
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
    const [p50, p99]: [{ ours: number; ceiling: number }[], { ours: number; ceiling: number }[]] = [[], []]
    for (let n = 0; n < 3; n += 1) {
      const theirs = await run({ url: `${bareUrl}/bidders`, keys: ['none'], rate })
      const own = await run({ url, keys: bidderKeys, rate })
      p50.push({ ours: own.p50, ceiling: theirs.p50 + 2 })
      p99.push({ ours: own.p99, ceiling: theirs.p99 + 5 })
    }
    await close()
    const perPing = plain.map((pair) => ({ ours: 1_000 / pair.ours, ceiling: 1_000 / pair.ceiling }))
    return [
      figureOf('auctions, 10 bidders at 20 ms', 'auctions/s', { atLeast: 0.4 }, asked),
      figureOf('p50 of auctions at half that rate, beside the bare one + 2 ms', 'ms', { atMost: 1 }, p50),
      figureOf('p99 of auctions at half that rate, beside the bare one + 5 ms', 'ms', { atMost: 1 }, p99),
      figureOf('ping without bidders beside a durable append', 'ms', { atMost: 2.5 }, perPing),
    ]
  })
}
