import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, exportsOnRecord } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'
const ZONE = 'America/New_York'
const FEBRUARY = { from: '2026-02-01', to: '2026-03-01' }
const HEADINGS =
  'ref,startedAt,startedAtLocal,status,outcome,callerNumber,dialedNumber,campaign,publisher,buyer,target,ringSeconds,' +
  'talkSeconds,converted,revenueCents,payoutCents,profitCents,usageCents,reasonCode,reasonSentence,hasRecording,tags'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main', timezone: ZONE })
  const acme = await main.buyer({ name: '＝Acme, "the";+buyer' })
  const desk = await main.target(acme, { name: '=Desk', endpoint: { destinationE164: DESK } })
  const publisherId = await main.publisher({ name: 'Zoë 日本' })
  const terms = { payoutMode: 'fixed', payoutCents: 1_500 }
  const roofing = await main.line({ name: 'Roofing' }, [desk], { publisherId, terms })
  const solar = await main.line({ name: 'Solar', anonymousPolicy: 'block' }, [desk])
  const other = await createTenantWorkspace(writer, { name: 'Other' })
  const stranger = await main.apiKey({ scopes: ['reports:read'] })
  return { main, other, roofing, solar, stranger }
}
type World = Awaited<ReturnType<typeof world>>

/** Cells of a CSV file, without quotes (RFC 4180). */
function cellsOf(text: string): readonly (readonly string[])[] {
  const lines: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\r\n') lines.push([])
  }
  return lines.slice(0, -1)
}

const { it, describe, beforeAll, main, the, server } = suite('export of the call log', world)

const played: Json[] = []

beforeAll(async () => {
  const { roofing, solar } = the
  played.length = 0
  for (const call of [
    { to: roofing.e164, from: '+13105550123', at: '2026-02-10T03:00:00.000Z', script: { [DESK]: answerScript(600) } },
    {
      to: roofing.e164,
      from: '+13105550999',
      at: '2026-02-11T00:00:00.000Z',
      script: { [DESK]: [{ result: 'busy' }] },
    },
    { to: solar.e164, from: null, at: '2026-02-12T13:00:00.000Z' },
  ])
    played.push((await main.playCall(call)).call)
})

/** The rows of the calls, as the file has them. */
const hiddenRow = (hidden: Json) => [
  hidden.ref,
  '2026-02-12T13:00:00.000Z',
  '2026-02-12 08:00:00',
  'rejected',
  'unrouted',
  '',
  `'${the.solar.e164}`,
  'Solar',
  '',
  '',
  '',
  '0',
  '0',
  'false',
  '0',
  '0',
  '0',
  '0',
  'anonymous_blocked',
  hidden.reasonSentence,
  'false',
  JSON.stringify(hidden.tags),
]

const lostRow = (lost: Json) => [
  lost.ref,
  '2026-02-11T00:00:00.000Z',
  '2026-02-10 19:00:00',
  'busy',
  'unrouted',
  "'+13105550999",
  `'${the.roofing.e164}`,
  'Roofing',
  'Zoë 日本',
  '',
  "'=Desk",
  String(lost.ringSeconds),
  '0',
  'false',
  '0',
  '0',
  '0',
  '0',
  'all_targets_failed',
  lost.reasonSentence,
  'false',
  JSON.stringify(lost.tags),
]

const longRow = (long: Json) => [
  long.ref,
  '2026-02-10T03:00:00.000Z',
  '2026-02-09 22:00:00',
  'completed',
  'converted',
  "'+13105550123",
  `'${the.roofing.e164}`,
  'Roofing',
  'Zoë 日本',
  `'＝Acme, "the";'+buyer`,
  "'=Desk",
  '2',
  '600',
  'true',
  '1000',
  '1500',
  '-500',
  '30',
  '',
  '',
  'true',
  JSON.stringify(long.tags),
]

const exported = (parameters: Json = {}, client = main) =>
  client.rest(`/api/v1/calls/export.csv${queryString(parameters)}`)

describe(documentLine('limit: Exports'), () => {
  it('the call log: every column of every call, newest first', async () => {
    const { status, headers, text } = await exported(FEBRUARY)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="calls-\d{4}-\d\d-\d\d\.csv"$/)
    const [first, ...rows] = cellsOf(text)
    expect(first?.join(',').replace('\uFEFF', '')).toBe(HEADINGS)
    const [long, lost, hidden] = played
    expect(rows).toEqual([hiddenRow(hidden), lostRow(lost), longRow(long)])
  })

  it('quotes every text, and no number', async () => {
    const { text } = await exported({ ...FEBRUARY, outcome: 'converted' })
    const [long] = played
    const tags = JSON.stringify(long.tags).replaceAll('"', '""')
    expect(text.split('\r\n')[1]).toBe(
      `"${long.ref}","2026-02-10T03:00:00.000Z","2026-02-09 22:00:00","completed","converted","'+13105550123",` +
        `"'${the.roofing.e164}","Roofing","Zoë 日本","'＝Acme, ""the"";'+buyer","'=Desk",2,600,true,1000,1500,-500,30,,,true,"${tags}"`,
    )
  })

  it('begins with the byte order mark, and ends its lines with CR LF', async () => {
    const response = await fetch(`${server.baseUrl}/api/v1/calls/export.csv${queryString(FEBRUARY)}`, {
      headers: { authorization: `Bearer ${the.main.key}` },
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    expect(bytes.toString().endsWith('\r\n')).toBe(true)
    expect(bytes.toString().replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  it('is logged with severity high before it is sent, with its filter and row count', async () => {
    const answer = await exported({ ...FEBRUARY, campaignId: the.roofing.campaignId, tz: 'Asia/Tokyo' })
    const { newest: entry } = await exportsOnRecord(main)
    expect(entry).toMatchObject({
      kind: 'export',
      severity: 'high',
      entity: { name: 'the call log' },
      actor: { type: 'key', name: 'Full key' },
      requestId: answer.headers.get('svc-request-id'),
    })
    expect(entry.changes).toEqual(
      expect.arrayContaining([
        { field: 'filters.campaignId', before: null, after: the.roofing.campaignId },
        { field: 'filters.from', before: null, after: '2026-02-01T00:00:00.000Z' },
        { field: 'filters.to', before: null, after: '2026-03-01T00:00:00.000Z' },
        { field: 'filters.tz', before: null, after: 'Asia/Tokyo' },
        { field: 'rows', before: null, after: 2 },
      ]),
    )
    expect(cellsOf(answer.text)).toHaveLength(3)
  })

  it('accepts the longest filters of the list, and is empty where no call matches', async () => {
    const none = await exported({ ...FEBRUARY, tagKey: 'k'.repeat(64), tagValue: 'v'.repeat(512) })
    expect(none.status, none.text).toBe(200)
    expect(cellsOf(none.text)).toHaveLength(1)
    expect((await exportsOnRecord(main)).newest.changes).toContainEqual({ field: 'rows', before: null, after: 0 })
  })

  it.each<readonly [string, Json, (world: World) => Json, number]>([
    ['outcome', { outcome: 'unrouted' }, () => ({}), 2],
    ['hasRecording', { hasRecording: true }, () => ({}), 1],
    ['caller', { caller: '0999' }, () => ({}), 1],
    ['campaign', {}, ({ solar }) => ({ campaignId: solar.campaignId }), 1],
    ['tag', { tagKey: 'callerState', tagValue: 'CA' }, () => ({}), 2],
    ['talk', { minTalk: 1, maxTalk: 600 }, () => ({}), 1],
    ['nothing that a page is asked by', { page: 7, pageSize: 1, sort: 'talkSeconds', dir: 'asc' }, () => ({}), 3],
  ])('filters by %s', async (_name, parameters, more, rows) => {
    const { text } = await exported({ ...FEBRUARY, ...parameters, ...more(the) })
    const lines = cellsOf(text).slice(1)
    expect(lines).toHaveLength(rows)
    const starts = lines.map(([, startedAt = '']) => startedAt)
    expect(starts).toEqual(starts.toSorted().toReversed())
  })

  it('shows local times of the requested zone, on both sides of a clock change', async () => {
    const local = async (at: string, tz: string) => {
      const { call } = await main.playCall({ to: the.solar.e164, from: null, at })
      const to = new Date(Date.parse(at) + 1).toISOString()
      const { text } = await exported({ from: at, to, tz })
      return cellsOf(text).find(([ref]) => ref === call.ref)?.[2]
    }
    expect(await local('2026-03-08T06:59:59.000Z', ZONE)).toBe('2026-03-08 01:59:59')
    expect(await local('2026-03-08T07:00:00.000Z', ZONE)).toBe('2026-03-08 03:00:00')
    expect(await local('2026-03-29T00:45:00.000Z', 'Asia/Kathmandu')).toBe('2026-03-29 06:30:00')
  })

  it('the console sends the same file', async () => {
    const console = await main.console(`/api/tracking/calls/export.csv${queryString(FEBRUARY)}`)
    expect(console.status).toBe(200)
    expect(console.text).toBe((await exported(FEBRUARY)).text)
  })

  it.each<readonly [string, Json, string, readonly string[]]>([
    ['a wrong type', { minTalk: 'long' }, 'validation_error', ['minTalk']],
    ['a value outside its list', { outcome: 'lost' }, 'validation_error', ['outcome']],
    ['talk out of range', { maxTalk: 86_401 }, 'validation_error', ['maxTalk']],
    ['from after to', { from: '2026-02-02', to: '2026-02-01' }, 'bad_request', ['from']],
    ['a window over 366 days', { from: '2025-01-01', to: '2026-01-03' }, 'bad_request', ['from']],
    ['an unknown zone', { tz: 'Mars/Olympus' }, 'bad_request', ['tz']],
    ['tagValue without tagKey', { tagValue: 'x' }, 'bad_request', ['tagValue']],
    ['a skip reason', { reason: 'buyer_capped' }, 'bad_request', ['reason']],
    ['minTalk above maxTalk', { minTalk: 2, maxTalk: 1 }, 'bad_request', ['minTalk']],
    ['a caller under 4 digits', { caller: '123' }, 'bad_request', ['caller']],
  ])('refuses %s, and logs nothing', async (_name, parameters, code, fields) => {
    const before = (await exportsOnRecord(main)).total
    const { status, body } = await exported(parameters)
    expect([status, body.error.code, Object.keys(body.error.details)]).toEqual([400, code, fields])
    expect((await exportsOnRecord(main)).total).toBe(before)
  })

  it('needs `calls:read`, has no HEAD, and contains no calls of other workspaces', async () => {
    const before = (await exportsOnRecord(main)).total
    const path = '/api/v1/calls/export.csv'
    const refused = await main.rest(path, { headers: { authorization: `Bearer ${the.stranger}` } })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
    expect((await main.rest(path, { method: 'HEAD' })).status).toBe(405)
    expect((await exportsOnRecord(main)).total).toBe(before)
    expect(cellsOf((await exported(FEBRUARY, createTenantClient(server, the.other))).text)).toHaveLength(1)
  })
})
