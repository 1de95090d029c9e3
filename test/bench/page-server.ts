import autocannon from 'autocannon'
import fastify from 'fastify'
import { queryRoutes } from '../../src/api/query-routes.ts'
import type { AnyQuery } from '../../src/kernel/query.ts'
import type { ReadSide } from '../../src/main/read-side/read-side.ts'
import { startThread } from '../../src/main/read-side/threads.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { withSingleFlight } from '../../src/runtime/queries/coalesce-queries.ts'
import { HOST, serve } from './api-server.ts'
import { alternate, type Figure, figureOf } from './measure.ts'
import type { PageCalls } from './page-thread.ts'

const SECONDS = 2
const CONNECTIONS = 64

/** Where the stores of a directory are, as the threads of a platform open them. */
export const storesIn = (directory: string) => ({
  eventLogUrl: `sqlite:${directory}/events.db`,
  readStoreUrl: `sqlite:${directory}/views.db`,
  columnsDirectory: `${directory}/columns`,
  publicUrl: `http://${HOST}`,
  root: Buffer.alloc(32),
  shards: 1,
})

/** Ends the benchmark with a thread that has died. */
export const fail = (error: Error): never => {
  throw error
}

/** Serves lists over HTTP as the product does: edge, credential, query thread, read store. */
export async function servePages(
  directory: string,
  owner: string,
  access: Pick<ReadSide, 'credentials'>,
  ...lists: readonly AnyQuery<QueryPorts>[]
) {
  const start = { ...storesIn(directory), owner, polls: false }
  const thread = await startThread<PageCalls>(new URL('./page-thread.ts', import.meta.url), start, {}, fail)
  const runner = withSingleFlight({ run: (asked) => thread.calls.ask(asked) })
  const served = await serve(access, queryRoutes(lists, runner, clock))
  return {
    baseUrl: served.baseUrl,
    async close(): Promise<void> {
      await served.close()
      await thread.close()
    },
  }
}

/** Requests per second. @throws Error when a request fails */
async function requestRate(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const sent = { url, headers, connections: CONNECTIONS, duration: SECONDS, workers: 1 }
  const { requests, non2xx, errors } = await autocannon(sent)
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx + errors} requests failed.`)
  return requests.average
}

/** A page over HTTP, compared with bare Fastify that sends the same prebuilt bytes. */
export async function pageFigure(name: string, url: string, key: string): Promise<Figure> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(url, { headers })
  if (!answer.ok) throw new Error(`The page answered ${answer.status}: ${await answer.text()}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  const bare = fastify()
  bare.get('/', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(bytes))
  const bareUrl = await bare.listen({ port: 0, host: HOST })
  const pairs = await alternate(
    () => requestRate(url, headers),
    () => requestRate(bareUrl, headers),
  )
  await bare.close()
  return figureOf(name, 'requests/s', { atLeast: 0.25 }, pairs)
}
