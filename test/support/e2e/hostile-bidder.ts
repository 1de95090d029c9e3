import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { listenLocally } from './listen.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A bidder of the test: what it was asked, and how it answers. */
export interface TestBidder {
  /** The URL of the answer of a name. */
  readonly url: (name: string) => string
  /** The requests for a name, oldest first. */
  readonly asked: (name: string) => readonly IncomingMessage[]
  readonly close: () => void
}

/** Starts a server whose paths answer by name. */
export async function startTestBidder(answers: Readonly<Record<string, Answer>>): Promise<TestBidder> {
  const requests: IncomingMessage[] = []
  const nameOf = ({ url = '' }: IncomingMessage) => url.slice(1).split('?')[0] ?? ''
  const server = createServer((request, response) => {
    requests.push(request)
    request.resume()
    // A client that has given up ends what a bidder still writes.
    response.on('error', () => undefined)
    request.on('end', () => answers[nameOf(request)]?.(response, request))
  })
  const port = await listenLocally(server)
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    asked: (name) => requests.filter((request) => nameOf(request) === name),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const bid = (amount: string) => `{"accept":true,"bid":{"amountCents":${amount}},"destination":"+13125550188"}`

/** Writes a chunk again and again until the client goes. */
function writeWithoutEnd(response: ServerResponse, chunk: string, everyMs: number): void {
  const timer = setInterval(() => response.write(chunk), everyMs)
  response.on('close', () => clearInterval(timer))
}

/** Answers of bidders that no auction should suffer from. */
export const HOSTILE_ANSWERS = {
  hang: () => undefined,
  drip: (response) => writeWithoutEnd(response.writeHead(200), ' ', 20),
  reset: (response) => response.socket?.resetAndDestroy(),
  cut: (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"accept":')
    setImmediate(() => response.destroy())
  },
  endless: (response) => writeWithoutEnd(response.writeHead(200), ' '.repeat(16_384), 1),
  large: (response) => response.end(`${bid('900')}${' '.repeat(64 * 1024)}`),
  bomb: (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20_000_000, ' '))),
  text: (response) => response.end('<html>'),
  deep: (response) => response.end('['.repeat(60_000)),
  nan: (response) => response.end(bid('NaN')),
  nanText: (response) => response.end(bid('"NaN"')),
  negative: (response) => response.end(bid('-900')),
  infinite: (response) => response.end(bid('1e400')),
  enormous: (response) => response.end(bid('1e300')),
  failing: (response) => response.writeHead(500).end(bid('900')),
  redirect: (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
} as const satisfies Readonly<Record<string, Answer>>
export type HostileAnswer = keyof typeof HOSTILE_ANSWERS
