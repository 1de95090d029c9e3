import autocannon from 'autocannon'
import fastify from 'fastify'
import { queryRoutes } from '../../src/api/query-routes.ts'
import { openReadSide } from '../../src/main/read-side/read-side.ts'
import { startThread } from '../../src/main/read-side/threads.ts'
import { systemClock as clock } from '../../src/main/system.ts'
import { START } from '../../src/ports/event-log.ts'
import { withSingleFlight } from '../../src/runtime/queries/coalesce-queries.ts'
import { enterStores } from '../support/fixtures/member.ts'
import { HOST, serve } from './api-server.ts'
import { callPage } from './call-page.ts'
import { alternate, type Figure, figureOf } from './measure.ts'
import type { PageCalls } from './page-thread.ts'
import { storeCalls } from './stored-calls.ts'
import { withDirectory } from './temp-directory.ts'

const KEY = 'svc_test_bench'
const SECONDS = 2
const CONNECTIONS = 64
const PATH = '/api/v1/call-page?pageSize=25'

/** Requests per second. @throws Error when a request fails */
async function requestRate(url: string): Promise<number> {
  const headers = { authorization: `Bearer ${KEY}` }
  const { requests, non2xx, errors } = await autocannon({
    url,
    headers,
    connections: CONNECTIONS,
    duration: SECONDS,
    workers: 1,
  })
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx + errors} requests failed.`)
  return requests.average
}

const fail = (error: Error) => {
  throw error
}

/** Serves the page over HTTP as the product does: edge, credential, query thread, read store. */
async function openPages(directory: string) {
  const start = {
    eventLogUrl: `sqlite:${directory}/events.db`,
    readStoreUrl: `sqlite:${directory}/views.db`,
    columnsDirectory: `${directory}/columns`,
    publicUrl: `http://${HOST}`,
    root: Buffer.alloc(32),
  }
  const { ops, ...member } = await enterStores(start.readStoreUrl)
  const own = { ...start, owner: member.owner, shards: 1 }
  const readSide = await openReadSide({ ...own, ops, head: START, projects: true, onDeath: fail })
  const thread = await startThread<PageCalls>(
    new URL('./page-thread.ts', import.meta.url),
    { ...own, polls: false },
    {},
    fail,
  )
  const served = await serve(
    readSide,
    queryRoutes([callPage], withSingleFlight({ run: (ask) => thread.calls.ask(ask) }), clock),
  )
  return {
    url: `${served.baseUrl}${PATH}`,
    async close(): Promise<void> {
      await served.close()
      await Promise.all([thread.close(), readSide.close()])
      await member.leave()
    },
  }
}

/** A page of 25 calls over HTTP, compared with bare Fastify that sends the same prebuilt bytes. */
export function callList(calls: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const stored = await storeCalls(directory, [KEY])
    await stored.growTo(calls)
    await stored.resetCheckpoint()
    const pages = await openPages(directory)
    const answer = await fetch(pages.url, { headers: { authorization: `Bearer ${KEY}` } })
    if (!answer.ok) throw new Error(`The page answered ${answer.status}: ${await answer.text()}`)
    const bytes = Buffer.from(await answer.arrayBuffer())
    const bare = fastify()
    bare.get('/', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(bytes))
    const bareUrl = await bare.listen({ port: 0, host: HOST })
    const pairs = await alternate(
      () => requestRate(pages.url),
      () => requestRate(bareUrl),
    )
    await Promise.all([pages.close(), bare.close()])
    const name = `page of 25 out of ${calls.toLocaleString('en-US')} calls, HTTP`
    return [figureOf(name, 'requests/s', { atLeast: 0.25 }, pairs)]
  })
}
