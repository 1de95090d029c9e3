import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenLocally } from '../e2e/listen.ts'
import type { GotRequest } from '../oracle/deliveries.ts'

/** How long (ms) it takes to answer: long enough for a killed process to be gone on a busy machine. */
const ANSWER_MS = 200
/** Share of the requests that are answered with 503 while the receiver is unwell. */
const FAILED = 0.05

/** A customer's server that records what it gets, across the crashes of whoever sends. */
export interface RecordingReceiver {
  readonly url: (name: string) => string
  readonly got: readonly GotRequest[]
  /** A sentence for each request that came while another of the same delivery was under way. */
  readonly overlaps: readonly string[]
  /** Number of requests whose sender went away before the answer. */
  readonly interrupted: () => number
  /** Resolves when a number of further requests have come, the last of them not answered yet. @throws Error when they have not in time */
  readonly next: (count: number, boundMs: number) => Promise<void>
  /** Answers with 200 from now on. */
  readonly recover: () => void
  readonly close: () => void
}

/** Starts a receiver. */
export async function startRecordingReceiver(chance: () => number): Promise<RecordingReceiver> {
  const got: { -readonly [Key in keyof GotRequest]: GotRequest[Key] }[] = []
  const underWay = new Set<string>()
  const overlaps: string[] = []
  let waiting: { count: number; readonly resolve: () => void }[] = []
  let interrupted = 0
  let isUnwell = true

  function announce(): void {
    for (const one of waiting) one.count -= 1
    for (const { count, resolve } of waiting) if (count <= 0) resolve()
    waiting = waiting.filter(({ count }) => count > 0)
  }

  async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = String(incoming.headers['svc-request-id'])
    const url = `http://${incoming.headers.host}${incoming.url}`
    const attempt = Number(incoming.headers['svc-attempt'])
    const body = (await buffer(incoming)).toString('utf8')
    const request: (typeof got)[number] = { url, requestId, attempt, body, status: null }
    const delivery = `${url} ${requestId}`
    if (underWay.has(delivery)) overlaps.push(`Attempt ${attempt} of ${delivery} came beside another`)
    underWay.add(delivery)
    got.push(request)
    const status = isUnwell && chance() < FAILED ? 503 : 200
    const timer = setTimeout(() => {
      request.status = status
      response.writeHead(status).end()
    }, ANSWER_MS)
    response.on('close', () => {
      clearTimeout(timer)
      underWay.delete(delivery)
      if (request.status === null) interrupted += 1
    })
    announce()
  }

  // A sender that is killed while it sends leaves a request that is no whole one: nobody got it.
  const server = createServer((incoming, response) => void receive(incoming, response).catch(() => response.destroy()))
  const port = await listenLocally(server)
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    got,
    overlaps,
    interrupted: () => interrupted,
    next: (count, boundMs) =>
      new Promise((resolve, reject) => {
        const late = () => reject(new Error(`${count} requests: not within ${boundMs} ms`))
        const timer = setTimeout(late, boundMs)
        waiting.push({
          count,
          resolve() {
            clearTimeout(timer)
            resolve()
          },
        })
      }),
    recover() {
      isUnwell = false
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
