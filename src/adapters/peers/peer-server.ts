import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { HEADERS, type KeyBetween, MESSAGES, openMessage, PATH, SEAL_BYTES, sealMessage } from './sealed-messages.ts'
import { createSeenNumbers, type TakeNumber } from './seen-numbers.ts'

/** Longest name of a sender. */
const NAME_CHARACTERS = 300
/** Connections at once: each process keeps a few. */
const CONNECTIONS = 512
/** How long a client may take to send a request (ms), and how long an idle connection is kept: longer than clients keep it. */
const REQUEST_MS = 10_000
const IDLE_MS = 75_000

/** A listener for the commands of other processes. */
export interface PeerServer {
  readonly port: number
  /** Takes no more requests, and resolves once those that it has taken are answered. */
  readonly close: () => Promise<void>
}

export interface PeerServerOptions {
  /** This process's name, for which messages are sealed. */
  readonly owner: string
  readonly host: string
  /** 0: any. */
  readonly port: number
  readonly keyBetween: KeyBetween
  /** Largest message in bytes. */
  readonly maxBytes: number
  /** Answers a message of a peer. */
  readonly answer: (message: string) => Promise<string>
}

/** A request that is not answered: its status. */
class Rejected extends Error {
  override readonly name = 'Rejected'
  readonly status: number
  constructor(status: number) {
    super(`The request is refused with ${status}.`)
    this.status = status
  }
}

/** Who sends a request, proven before a byte of its body is read. @throws Rejected */
function provenSender(request: IncomingMessage, { owner, keyBetween, maxBytes }: PeerServerOptions, take: TakeNumber) {
  const { method, url, headers } = request
  if (url !== PATH || method !== 'POST') throw new Rejected(404)
  const [from, proof] = [headers[HEADERS.from], headers[HEADERS.proof]]
  const [number, length] = [Number(headers[HEADERS.number]), Number(headers['content-length'])]
  if (typeof from !== 'string' || from.length > NAME_CHARACTERS || typeof proof !== 'string') throw new Rejected(401)
  if (!Number.isSafeInteger(number) || !Number.isSafeInteger(length)) throw new Rejected(401)
  if (length > maxBytes + SEAL_BYTES) throw new Rejected(413)
  const key = keyBetween(from, owner)
  try {
    openMessage(key, MESSAGES.proof(number, length), Buffer.from(proof, 'base64url'))
  } catch {
    throw new Rejected(401)
  }
  // A recorded request that is sent once more.
  if (!take(from, number)) throw new Rejected(409)
  return { number, key, replyKey: keyBetween(owner, from) }
}

/** Reads a body, whose length the server holds the client to. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The sealed answer to a request. @throws Rejected */
async function respond(request: IncomingMessage, options: PeerServerOptions, take: TakeNumber): Promise<Buffer> {
  const { number, key, replyKey } = provenSender(request, options, take)
  const body = await bodyOf(request)
  let message: string
  try {
    message = openMessage(key, MESSAGES.commands(number), body)
  } catch {
    throw new Rejected(401)
  }
  const answer = await options.answer(message)
  if (Buffer.byteLength(answer) > options.maxBytes) throw new Rejected(500)
  return sealMessage(replyKey, MESSAGES.answers(number), answer)
}

/**
 * Listens for the commands of other processes, on a port of its own that no proxy leads to. Requests and answers are sealed
 * under keys that both processes derive from the root key: without it nobody can send, read or repeat a message.
 */
export async function openPeerServer(options: PeerServerOptions): Promise<PeerServer> {
  const take = createSeenNumbers()
  let closing = false
  const server = createServer({ requestTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS }, (request, response) => {
    respond(request, options, take).then(
      (bytes) => {
        const headers = { 'content-length': bytes.length, ...(closing && { connection: 'close' }) }
        response.writeHead(200, headers).end(bytes)
      },
      (error: unknown) => {
        const status = error instanceof Rejected ? error.status : 500
        // What is refused is not read.
        response.writeHead(status, { 'content-length': 0, connection: 'close' }).end()
      },
    )
  })
  server.maxConnections = CONNECTIONS
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return {
    port: portOf(server),
    async close() {
      closing = true
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      await closed
    },
  }
}

function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The listener has no port.')
  return address.port
}
