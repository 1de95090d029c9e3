import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliveryLine, deliveryText } from '../../scripts/webhooks-listen.ts'

const SCRIPT = join(import.meta.dirname, '../../scripts/webhooks-listen.ts')
const SECRET = 'whsec_listening'
const AT = Date.parse('2026-11-24T15:04:05.678Z')
const BODY = '{"event":"call.completed","data":{"ref":"CA-4820193756"}}'

const signature = (ms: number, body = BODY, secret = SECRET) => {
  const t = Math.floor(ms / 1_000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}
const delivery = (headers: Readonly<Record<string, string>> = {}, body = BODY, method = 'POST', url = '/hook') => ({
  method,
  url,
  headers: { 'svc-event': 'call.completed', 'svc-request-id': 'evt-1', 'svc-attempt': '2', ...headers },
  body: Buffer.from(body),
  receivedMs: AT,
})
const signed = (header = signature(AT)) => delivery({ 'svc-signature': header })

describe('a request in one line', () => {
  test('says when it came, what it is, whether it is verified and what it was answered', () => {
    expect(deliveryLine(signed(), [SECRET], 200)).toBe(
      '2026-11-24T15:04:05.678Z · POST /hook · call.completed · evt-1 · attempt 2 · verified · answered 200',
    )
  })

  test.each([
    ['verified', signed(signature(AT).split(',').toReversed().join(', ')), ['whsec_of_before', SECRET]],
    ['verified', signed(signature(AT - 299_000)), [SECRET]],
    ['no secret given', signed(), []],
    ['NOT verified: there is no svc-signature', delivery(), [SECRET]],
    ['NOT verified: svc-signature has no t or no v1', signed('v1=00'), [SECRET]],
    ['NOT verified: t is more than five minutes away', signed(signature(AT - 302_000)), [SECRET]],
    ['NOT verified: it is of another secret or body', signed(), ['whsec_other']],
    ['NOT verified: it is of another secret or body', signed(signature(AT, `${BODY} `)), [SECRET]],
  ] as const)('is %s', (verdict, request, secrets) => {
    expect(deliveryLine(request, secrets, 500).split(' · ').slice(5)).toEqual([verdict, 'answered 500'])
  })

  test('of a stranger names what it lacks', () => {
    const pixel = { ...delivery({}, '', 'GET', '/pixel?ref=CA-1'), headers: {} }
    expect(deliveryText(pixel, [], 200)).toBe(
      '2026-11-24T15:04:05.678Z · GET /pixel?ref=CA-1 · no event · no request id · no attempt · no secret given · answered 200\n',
    )
  })
})

test('a body is shown as indented JSON, and any other text without control sequences', () => {
  const bodyOf = (body: string) => deliveryText(delivery({}, body), [], 200).split('\n').slice(1).join('\n')
  expect(bodyOf('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}\n')
  expect(bodyOf('\u001b[31mred\u001b[0m')).toBe('red\n')
  expect(bodyOf('')).toBe('')
})

describe('npm run webhooks:listen', () => {
  let child: ChildProcess
  let output = ''
  const printed = (pattern: RegExp) => expect.poll(() => output, { timeout: 10_000 }).toMatch(pattern)

  beforeAll(() => {
    child = spawn(process.execPath, [SCRIPT, '--port', '0', '--secret', 'whsec_of_before', '--fail', '1'], {
      env: { PATH: process.env.PATH, WEBHOOK_SECRET: SECRET },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child.stdout?.on('data', (chunk) => {
      output += chunk
    })
  })
  afterAll(() => void child.kill())

  test('fails as often as it was told, then takes everything, and prints each request', async () => {
    await printed(/Listening on http:\/\/127\.0\.0\.1:\d+\n/)
    const url = /http:\S+/.exec(output)?.[0] ?? ''
    const headers = { 'svc-signature': signature(Date.now()), 'svc-event': 'call.completed', 'svc-attempt': '1' }
    const post = () => fetch(`${url}/hook`, { method: 'POST', headers, body: BODY })
    expect((await post()).status).toBe(500)
    expect((await post()).status).toBe(200)
    expect((await fetch(`${url}/pixel?ref=CA-1`)).status).toBe(200)
    await printed(/GET \/pixel\?ref=CA-1 · .* · NOT verified: there is no svc-signature · answered 200\n/)
    expect(output.match(/POST \/hook · call\.completed · .* · attempt 1 · verified · answered \d+/g)).toHaveLength(2)
    expect(output).toContain('    "ref": "CA-4820193756"\n')
  })

  test.each([
    [['--port', 'abc'], '--port takes a whole number from 0 to 65535, and not "abc".'],
    [['--fail', '-1'], "'--fail'"],
    [['--colour'], "Unknown option '--colour'"],
  ])('of %j ends with a sentence', (words, sentence) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...words], { encoding: 'utf8' })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toContain(sentence)
    expect(stderr).toContain('Usage: npm run webhooks:listen')
  })

  test('on a port that is taken ends with a sentence', async () => {
    await printed(/Listening/)
    const port = /:(\d+)\n/.exec(output)?.[1] ?? ''
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, '--port', port], { encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toMatch(/EADDRINUSE/)
  })
})
