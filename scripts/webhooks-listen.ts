import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { parseArgs, stripVTControlCharacters } from 'node:util'

const HOST = '127.0.0.1'
const USAGE = 'Usage: npm run webhooks:listen -- [--port 9100] [--secret whsec_…]… [--fail <first requests to refuse>]'
/** How far the clock of a signature may be off (seconds), either way. */
const TOLERANCE_SECONDS = 300

/** A request as it came. */
export interface ReceivedDelivery {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** When it came (ms since the epoch). */
  readonly receivedMs: number
}

const textOf = (value: string | readonly string[] | undefined) => [value ?? []].flat().join(', ')

function isSignedWith(secret: string, t: string, body: Uint8Array, v1: string): boolean {
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(v1, 'hex'))
}

/** Why a request is not verified by any of the secrets; null where it is. */
function signatureProblem({ headers, body, receivedMs }: ReceivedDelivery, secrets: readonly string[]): string | null {
  const header = textOf(headers['svc-signature'])
  if (header === '') return 'there is no svc-signature'
  const { t = '', v1 = '' } = Object.fromEntries(header.split(',').map((part) => part.trim().split('=')))
  if (!/^\d{1,12}$/.test(t) || !/^[0-9a-f]{64}$/.test(v1)) return 'svc-signature has no t or no v1'
  if (Math.abs(receivedMs / 1_000 - Number(t)) > TOLERANCE_SECONDS) return 't is more than five minutes away'
  return secrets.some((secret) => isSignedWith(secret, t, body, v1)) ? null : 'it is of another secret or body'
}

function verdict(delivery: ReceivedDelivery, secrets: readonly string[]): string {
  if (secrets.length === 0) return 'no secret given'
  const problem = signatureProblem(delivery, secrets)
  return problem === null ? 'verified' : `NOT verified: ${problem}`
}

/** A body to read: JSON indented, any other text without the control sequences of terminals. */
function readableBody(body: Buffer): string {
  const text = body.toString()
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return stripVTControlCharacters(text)
  }
}

/** A request in one line: when, what, whether its signature is right, and the status that it was answered. */
export function deliveryLine(delivery: ReceivedDelivery, secrets: readonly string[], status: number): string {
  const { method, url, headers, receivedMs } = delivery
  const attempt = textOf(headers['svc-attempt'])
  const fields = [
    new Date(receivedMs).toISOString(),
    `${method} ${url}`,
    textOf(headers['svc-event']) || 'no event',
    textOf(headers['svc-request-id']) || 'no request id',
    attempt === '' ? 'no attempt' : `attempt ${attempt}`,
    verdict(delivery, secrets),
    `answered ${status}`,
  ]
  return fields.join(' · ')
}

/** A request as the terminal shows it: its line, then its body. */
export function deliveryText(delivery: ReceivedDelivery, secrets: readonly string[], status: number): string {
  const body = readableBody(delivery.body)
  return `${deliveryLine(delivery, secrets, status)}\n${body === '' ? '' : `${body}\n`}`
}

/** Creates a server that answers every request 200, but the first `fail` of them 500, and prints each. */
function createListener(secrets: readonly string[], fail: number): Server {
  let received = 0
  return createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const receivedMs = Date.now()
    try {
      const body = await buffer(request)
      received += 1
      const status = received <= fail ? 500 : 200
      response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 200 ? 'ok\n' : 'failed as told\n')
      process.stdout.write(`${deliveryText({ method, url, headers, body, receivedMs }, secrets, status)}\n`)
    } catch {
      process.stdout.write(`${new Date(receivedMs).toISOString()} · ${method} ${url} · broken off\n`)
    }
  })
}

/** A whole number of an option. @throws Error that names the option */
function wholeNumberOf(name: string, text: string, max: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text)
  throw new Error(`--${name} takes a whole number from 0 to ${max}, and not "${text}".`)
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '9100' },
      secret: { type: 'string', multiple: true, default: [] },
      fail: { type: 'string', default: '0' },
    },
  })
  return {
    port: wholeNumberOf('port', values.port, 65_535),
    fail: wholeNumberOf('fail', values.fail, 999_999_999),
    secrets: [...values.secret, process.env.WEBHOOK_SECRET ?? ''].filter((secret) => secret !== ''),
  }
}

function end(problem: unknown): void {
  process.stderr.write(`${problem instanceof Error ? problem.message : String(problem)}\n${USAGE}\n`)
  process.exitCode = 1
}

if (import.meta.main) {
  try {
    const { port, fail, secrets } = readOptions()
    const server = createListener(secrets, fail)
    server.once('error', end)
    server.listen(port, HOST, () => {
      const address = server.address()
      const open = typeof address === 'object' && address !== null ? address.port : port
      process.stdout.write(`Listening on http://${HOST}:${open}\n`)
    })
  } catch (problem) {
    end(problem)
  }
}
