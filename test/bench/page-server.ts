import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import autocannon from 'autocannon'
import fastify, { type FastifyReply } from 'fastify'
import { queryRoutes } from '../../src/api/query-routes.ts'
import type { AnyQuery } from '../../src/kernel/query.ts'
import type { ReadSide } from '../../src/main/read-side/read-side.ts'
import { loadThread, startThread } from '../../src/main/read-side/threads.ts'
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
  const thread = await startThread<PageCalls>(loadThread(new URL('./page-thread.ts', import.meta.url)), start, {}, fail)
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

type Headers = Readonly<Record<string, string>>

/** Requests per second, for the URL or for the paths that `next-path.ts` gives. @throws Error when a request fails */
async function requestRate(url: string, headers: Headers, setupRequest?: string): Promise<number> {
  const load = { url, headers, connections: CONNECTIONS, duration: SECONDS, workers: 1 }
  const sent = setupRequest === undefined ? load : { ...load, requests: [{ setupRequest }] }
  const { requests, non2xx, errors } = await autocannon(sent)
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx + errors} requests failed.`)
  return requests.average
}

/** Headers that a server sets itself. */
const OWN = new Set(['connection', 'content-length', 'date', 'keep-alive'])

/** An answer of the product: its text, and the headers that a bare server sends as well. */
export async function answerOf(
  url: string,
  key: string,
): Promise<{ readonly text: string; readonly headers: Headers }> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`The page answered ${answer.status}: ${text}`)
  return { text, headers: Object.fromEntries([...answer.headers].filter(([name]) => !OWN.has(name))) }
}

/** Different pages over HTTP, by their paths, compared with bare Fastify that reads and sends one of as many, with the same headers. */
export async function pagesFigure(
  name: string,
  directory: string,
  pages: { readonly baseUrl: string; readonly paths: readonly string[]; readonly key: string },
  readBare: (page: number) => string,
): Promise<Figure> {
  const { baseUrl, paths, key } = pages
  const { headers } = await answerOf(`${baseUrl}${paths[0]}`, key)
  const bare = fastify()
  bare.get('/:page', ({ params }, reply: FastifyReply) =>
    reply.headers(headers).send(readBare(Number((params as { readonly page: string }).page))),
  )
  const bareUrl = await bare.listen({ port: 0, host: HOST })
  const rateOf = (url: string, asked: readonly string[]) => {
    process.env.BENCH_PATHS = join(directory, 'paths.json')
    writeFileSync(process.env.BENCH_PATHS, JSON.stringify(asked))
    return requestRate(url, { authorization: `Bearer ${key}` }, join(import.meta.dirname, 'next-path.ts'))
  }
  const barePaths = paths.map((_path, page) => `/${page}`)
  const pairs = await alternate(
    () => rateOf(baseUrl, paths),
    () => rateOf(bareUrl, barePaths),
  )
  await bare.close()
  return figureOf(name, 'requests/s', { atLeast: 0.25 }, pairs)
}

/** A page over HTTP, compared with bare Fastify that sends the same prebuilt bytes and headers; it must reach a part of that. */
export async function pageFigure(name: string, url: string, key: string, atLeast = 0.25): Promise<Figure> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await answerOf(url, key)
  const bytes = Buffer.from(answer.text)
  const bare = fastify()
  bare.get('/', (_request, reply) => reply.headers(answer.headers).send(bytes))
  const bareUrl = await bare.listen({ port: 0, host: HOST })
  const pairs = await alternate(
    () => requestRate(url, headers),
    () => requestRate(bareUrl, headers),
  )
  await bare.close()
  return figureOf(name, 'requests/s', { atLeast }, pairs)
}
