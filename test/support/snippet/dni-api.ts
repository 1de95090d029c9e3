import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listenLocally } from '../e2e/listen.ts'
import { createLeases, type DniPool, type DniRequest, type Leases, type Reply } from './dni-leases.ts'

/** Answers a request otherwise than the document says. */
export type DniAnswer = (response: ServerResponse) => void

/** The public number-insertion endpoints as the document has them, in memory, for pages of a test. */
export interface DniApi {
  /** What a script's `data-api` would name. */
  readonly base: string
  readonly leases: Leases
  /** The requests so far to `lease` or `heartbeat`, oldest first. */
  readonly got: (name: string) => readonly DniRequest[]
  /** The requests to a name, once there are so many. */
  readonly until: (name: string, count: number) => Promise<readonly DniRequest[]>
  /** Answers a name this way from now on; without an answer as the document says. */
  readonly answer: (name: string, answer?: DniAnswer) => void
  readonly close: () => void
}

/** Sends an answer as a server does that lets any origin call. */
export function send(response: ServerResponse, status: number, body: string, type = 'application/json'): void {
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'no-store', 'content-type': type }
  response.writeHead(status, headers).end(body)
}

function preflight(response: ServerResponse): void {
  response
    .writeHead(204, {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '86400',
      'cache-control': 'no-store',
    })
    .end()
}

/** Starts the endpoints over some pools, and serves a script as the snippet. */
export async function startDniApi(pools: readonly DniPool[], script: string): Promise<DniApi> {
  const leases = createLeases(pools)
  const requests: DniRequest[] = []
  const answers = new Map<string, DniAnswer>()
  const waiting = new Set<() => void>()
  const got = (name: string) => requests.filter((request) => request.name === name)

  async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined)
    const { method, url = '', headers } = incoming
    const name = /^\/api\/public\/dni\/([\w.]+)/.exec(url)?.[1] ?? ''
    if (name === 'svcdni.js') return sendScript(response, script)
    if (method === 'OPTIONS') return preflight(response)
    const request = { name, headers, body: JSON.parse(await text(incoming)) }
    requests.push(request)
    const answer = answers.get(name)
    if (answer) answer(response)
    else reply(response, name === 'lease' ? leases.lease(request) : leases.heartbeat(request))
    for (const look of waiting) look()
  }

  const server = createServer((incoming, response) => void receive(incoming, response).catch(() => response.destroy()))
  const port = await listenLocally(server)
  return {
    base: `http://127.0.0.1:${port}/api/public/dni`,
    leases,
    got,
    until: (name, count) =>
      new Promise((resolve) => {
        const look = () => {
          if (got(name).length < count) return
          waiting.delete(look)
          resolve(got(name))
        }
        waiting.add(look)
        look()
      }),
    answer: (name, answer) => void (answer ? answers.set(name, answer) : answers.delete(name)),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function sendScript(response: ServerResponse, script: string): void {
  response
    .writeHead(200, {
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=3600',
      'content-type': 'application/javascript',
      'cross-origin-resource-policy': 'cross-origin',
    })
    .end(script)
}

function reply(response: ServerResponse, { status, body }: Reply): void {
  send(response, status, JSON.stringify(body))
}
