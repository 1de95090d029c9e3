import { expect } from 'vitest'
import { type Json, queryString } from '../../support/e2e/api-client.ts'
import { type CallLogWorld, createCallLogWorld, FEBRUARY, playLoggedCalls } from '../../support/e2e/call-log-world.ts'
import { documentLine } from '../../support/e2e/document-1.ts'
import { suite } from '../../support/e2e/suite.ts'
import { exportsOnRecord } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { createSeededRandom } from '../../support/memory/random.ts'

const { it, describe, beforeAll, main, the, tenant, client } = suite('reports on calls', async (writer) => {
  const world = await createCallLogWorld(writer)
  const { line } = world.main
  const copy = await line({ name: 'Copy' }, [world.desk])
  const growth = await createTenantWorkspace(writer, { name: 'Growing', planId: 'growth' })
  return { ...world, copy, growth, noReports: await world.main.apiKey({ scopes: ['calls:read'] }) }
})

type World = CallLogWorld

const stranger = client(({ noReports }) => noReports)

const report = (parameters: Record<string, string | number | boolean | undefined>, path = '') =>
  main.rest(`/api/v1/reports/calls${path}${queryString(parameters)}`)

const read = async (parameters: Record<string, string | number | boolean | undefined>): Promise<Json> => {
  const { status, body, text } = await report({ ...FEBRUARY, ...parameters })
  expect(status, text).toBe(200)
  return body
}

const listed = async (
  parameters: Record<string, string | number | boolean | undefined> = {},
): Promise<readonly Json[]> => {
  const { body } = await main.rest(`/api/v1/calls${queryString({ ...FEBRUARY, pageSize: 200, ...parameters })}`)
  return body.data
}

/** Details of listed calls, which rows of the list do not have. */
async function details(calls: readonly Json[]): Promise<readonly Json[]> {
  return Promise.all(calls.map(async ({ id }) => (await main.readCall(id)).call))
}

const sum = (calls: readonly Json[], of: (call: Json) => number) => calls.reduce((all, call) => all + of(call), 0)
const count = (calls: readonly Json[], ...outcomes: readonly string[]) =>
  calls.filter(({ outcome }) => outcomes.includes(outcome)).length

const share = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000)

/** The figures of calls, from the call list. */
function figuresOf(calls: readonly Json[]) {
  const connected = count(calls, 'connected', 'converted')
  const converted = count(calls, 'converted')
  const talk = sum(calls, ({ talkSeconds }) => talkSeconds)
  return {
    calls: calls.length,
    connected,
    converted,
    unrouted: count(calls, 'unrouted'),
    missed: count(calls, 'missed'),
    connectRate: share(connected, calls.length),
    conversionRate: share(converted, connected),
    revenueCents: sum(calls, ({ revenueCents }) => revenueCents),
    payoutCents: sum(calls, ({ payoutCents }) => payoutCents),
    profitCents: sum(calls, ({ profitCents }) => profitCents),
    usageCents: sum(calls, ({ usageCents }) => usageCents),
    totalTalkSeconds: talk,
    avgTalkSeconds: connected === 0 ? 0 : Math.round(talk / connected),
  }
}

function groupsOf(calls: readonly Json[], keysOf: (call: Json) => readonly (string | null)[]) {
  const groups = Map.groupBy(calls, (call) => JSON.stringify(keysOf(call)))
  return new Map([...groups].map(([keys, own]) => [keys, figuresOf(own)]))
}

function figuresByKeys({ groups }: Json) {
  return new Map((groups as Json[]).map(({ keys, labels: _, ...figures }) => [JSON.stringify(keys), figures]))
}

const local = (call: Json, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Kolkata', ...options }).format(new Date(call.startedAt))
const localDay = (call: Json) => local(call, { dateStyle: 'short' })
const weekdayOf = (call: Json) => new Date(`${localDay(call)}T00:00:00Z`).getUTCDay()
const mondayOf = (call: Json) => {
  const day = Date.parse(`${localDay(call)}T00:00:00Z`)
  return new Date(day - ((weekdayOf(call) + 6) % 7) * 86_400_000).toISOString().slice(0, 10)
}
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** The key of each dimension, by what the call list and a call's own page tell. */
const KEYS: Readonly<Record<string, (call: Json) => string | null>> = {
  campaign: ({ campaign }) => campaign?.id ?? null,
  publisher: ({ publisher }) => publisher?.id ?? null,
  buyer: ({ buyer }) => buyer?.id ?? null,
  target: ({ target }) => target?.id ?? null,
  number: ({ dialedNumberId }) => dialedNumberId,
  pool: ({ numberPoolId }) => numberPoolId,
  reason: ({ reasonCode }) => reasonCode,
  status: ({ status }) => status,
  outcome: ({ outcome }) => outcome,
  state: ({ callerState }) => callerState,
  attribution: ({ attribution }) => attribution,
  conversionSource: ({ conversionSource }) => conversionSource,
  hour: (call) => `${localDay(call)}T${local(call, { hour: '2-digit' })}:00:00+05:30`,
  day: localDay,
  week: mondayOf,
  month: (call) => localDay(call).slice(0, 7),
  weekday: (call) => DAYS[weekdayOf(call)] ?? null,
  hourOfDay: (call) => local(call, { hour: '2-digit' }),
  'tag:publisher': ({ tags }) => tags.publisher ?? null,
}

beforeAll(async () => {
  await playLoggedCalls(main, the)
  const { copy } = the
  const { call } = await main.playCall({ to: copy.e164, from: '+13105550124', at: '2026-02-20T23:30:00.000Z' })
  const post = (action: string, body: Json) => main.rest(`/api/v1/calls/${call.id}/${action}`, { method: 'POST', body })
  expect((await post('adjust', { revenueCents: 1_234, reason: 'Agreed' })).status).toBe(200)
  expect((await post('tags', { tags: { publisher: 'Own' } })).status).toBe(200)
})

describe('by each dimension, figures are those of the call list', () => {
  it.each(Object.keys(KEYS))('%s', async (dimension) => {
    const keyOf = KEYS[dimension] ?? (() => null)
    const calls = await details(await listed())
    expect(calls.length).toBe(7)
    const body = await read({ groupBy: dimension, tz: 'Asia/Kolkata' })
    expect(figuresByKeys(body)).toEqual(groupsOf(calls, (call) => [keyOf(call)]))
    expect(body.totals).toEqual(figuresOf(calls))
    expect(body).toMatchObject({ truncated: false, timezone: 'Asia/Kolkata', groupBy: [dimension] })
  })

  it.each([
    ['campaign', 'outcome'],
    ['day', 'publisher'],
    ['state', 'weekday'],
    ['tag:publisher', 'campaign'],
    ['hourOfDay', 'weekday'],
  ])('%s and %s', async (one, other) => {
    const calls = await details(await listed())
    const body = await read({ groupBy: `${one},${other}`, tz: 'Asia/Kolkata' })
    const keysOf = (call: Json) => [one, other].map((name) => KEYS[name]?.(call) ?? null)
    expect(figuresByKeys(body)).toEqual(groupsOf(calls, keysOf))
  })
})

describe('every filter of the call list', () => {
  it.each<readonly [string, (the: World) => Record<string, Json>]>([
    ['campaignId', ({ solar }) => ({ campaignId: solar.campaignId })],
    ['publisherId', ({ publisherId }) => ({ publisherId })],
    ['buyerId', ({ brick }) => ({ buyerId: brick })],
    ['targetId', ({ pbx }) => ({ targetId: pbx })],
    ['numberId', ({ solar }) => ({ numberId: solar.numberId })],
    ['ref', () => ({ ref: 'CA-0000000002' })],
    ['status', () => ({ status: 'abandoned' })],
    ['outcome connected', () => ({ outcome: 'connected' })],
    ['outcome converted', () => ({ outcome: 'converted' })],
    ['outcome live', () => ({ outcome: 'live' })],
    ['talk', () => ({ minTalk: 20, maxTalk: 60 })],
    ['caller', () => ({ caller: '+13105550123' })],
    ['the end of a caller', () => ({ caller: '0123' })],
    ['tagKey', () => ({ tagKey: 'publisher' })],
    ['tagValue', () => ({ tagKey: 'publisher', tagValue: 'Own' })],
    ['reason', () => ({ reason: 'anonymous_blocked' })],
    ['hasRecording', () => ({ hasRecording: true })],
    ['hasRecording false', () => ({ hasRecording: false })],
    ['several', ({ publisherId }) => ({ publisherId, outcome: 'connected', maxTalk: 30 })],
    ['from and to', () => ({ from: '2026-02-10T15:00:00Z', to: '2026-02-11T12:00:00Z' })],
  ])('%s', async (_name, filter) => {
    const only = filter(the)
    const body = await read({ groupBy: 'campaign', ...only })
    const calls = await listed(only)
    expect(body.totals).toEqual(figuresOf(calls))
    expect(figuresByKeys(body)).toEqual(groupsOf(calls, ({ campaign }) => [campaign?.id ?? null]))
  })
})

it('groups have the names of their keys', async () => {
  const { groups } = await read({ groupBy: 'campaign,reason', sort: 'key' })
  const named = new Map((groups as Json[]).map(({ keys, labels }) => [keys[1], labels]))
  expect(named.get('anonymous_blocked')).toEqual(['Solar', 'Anonymous caller'])
  expect(named.get('all_targets_failed')).toEqual(['Roofing', 'No target answered'])
  const weekdays = await read({ groupBy: 'weekday', tz: 'UTC' })
  expect(weekdays.groups.map(({ labels }: Json) => labels[0])).toEqual(['Tuesday', 'Wednesday', 'Thursday', 'Friday'])
  const numbers = await read({ groupBy: 'number' })
  expect(numbers.groups.map(({ labels }: Json) => labels[0]).toSorted()).toEqual(
    [the.roofing.e164, the.solar.e164, the.copy.e164].toSorted(),
  )
})

it('groups come by the figure or key that is asked for, the largest first', async () => {
  const order = async (parameters: Record<string, string>) =>
    (await read({ groupBy: 'campaign', ...parameters })).groups.map(({ labels }: Json) => labels[0])
  expect(await order({})).toEqual(['Roofing', 'Solar', 'Copy'])
  expect(await order({ dir: 'asc' })).toEqual(['Copy', 'Solar', 'Roofing'])
  expect(await order({ sort: 'revenueCents' })).toEqual(['Solar', 'Copy', 'Roofing'])
  expect(await order({ sort: 'colour', dir: 'up' })).toEqual(['Roofing', 'Solar', 'Copy'])
  const days = await read({ groupBy: 'day' })
  const keys = days.groups.map((group: Json) => group.keys[0])
  expect(keys).toEqual(keys.toSorted())
})

it('a limit leaves out groups, and totals cover them all the same', async () => {
  const body = await read({ groupBy: 'campaign', limit: 1 })
  expect(body).toMatchObject({ truncated: true, groups: [{ labels: ['Roofing'] }] })
  expect(body.totals.calls).toBe(7)
  expect(await read({ groupBy: 'campaign', limit: 3 })).toMatchObject({ truncated: false })
})

it('a report without dimensions has totals alone', async () => {
  expect(await read({})).toMatchObject({ groups: [], truncated: false, groupBy: [], totals: { calls: 7 } })
})

it('the console has the same report', async () => {
  const query = queryString({ ...FEBRUARY, groupBy: 'buyer' })
  const [byKey, byUser] = [
    await report({ ...FEBRUARY, groupBy: 'buyer' }),
    await main.console(`/api/tracking/reports/calls${query}`),
  ]
  expect(byUser.body).toEqual(byKey.body)
})

it('another workspace has none of these calls', async () => {
  const query = queryString({ ...FEBRUARY, groupBy: 'campaign' })
  const { body } = await tenant(({ other }) => other).rest(`/api/v1/reports/calls${query}`)
  expect(body).toMatchObject({ groups: [], totals: { calls: 0, connectRate: null, avgTalkSeconds: 0 } })
})

describe(documentLine('limit: Reports'), () => {
  it.each<readonly [string, Record<string, Json>, string, string]>([
    ['a window of 367 days', { from: '2025-01-01', to: '2026-01-03' }, 'bad_request', 'from'],
    ['hours of 32 days', { groupBy: 'hour', from: '2026-01-01', to: '2026-02-02' }, 'bad_request', 'from'],
    ['three dimensions', { groupBy: 'day,buyer,target' }, 'bad_request', 'groupBy'],
    ['the same dimension twice', { groupBy: 'buyer,buyer' }, 'bad_request', 'groupBy'],
    ['an unknown dimension', { groupBy: 'buyer,colour' }, 'validation_error', 'groupBy'],
    ['a tag that can be none', { groupBy: 'tag:a b' }, 'validation_error', 'groupBy'],
    ['an unknown zone', { tz: 'Mars/Olympus' }, 'bad_request', 'tz'],
    ['an offset for a zone', { tz: '+02:00' }, 'bad_request', 'tz'],
    ['limit 0', { limit: 0 }, 'validation_error', 'limit'],
    ['limit 5001', { limit: 5_001 }, 'validation_error', 'limit'],
    ['a limit of a word', { limit: 'many' }, 'validation_error', 'limit'],
    ['an instant that is none', { asOf: 'yesterday' }, 'validation_error', 'asOf'],
    ['an instant in the future', { asOf: '2126-01-01' }, 'bad_request', 'asOf'],
    ['a skip reason', { reason: 'capped' }, 'bad_request', 'reason'],
  ])('refuses %s', async (_name, parameters, code, field) => {
    const { status, body } = await report({ groupBy: 'campaign', ...parameters })
    expect([status, body.error?.code]).toEqual([400, code])
    expect(Object.keys(body.error.details)).toEqual([field])
  })

  it('takes 366 days, 31 days of hours, two dimensions, and limits of 1 and 5000', async () => {
    for (const parameters of [
      { groupBy: 'day', from: '2025-03-01', to: '2026-03-02' },
      { groupBy: 'hour,buyer', from: '2026-02-01', to: '2026-03-04' },
      // A month in which the clocks go back is an hour longer.
      { groupBy: 'hour', from: '2025-10-01T00:00:00-04:00', to: '2025-11-01T00:00:00-04:00', tz: 'America/New_York' },
      { groupBy: 'hour', from: '2025-10-03T00:00:00-04:00', to: '2025-11-03T00:00:00-05:00', tz: 'America/New_York' },
      { groupBy: 'campaign', limit: 1 },
      { groupBy: 'campaign', limit: 5_000 },
    ]) {
      const { status, text } = await report(parameters)
      expect(status, text).toBe(200)
    }
  })
})

it('a report as of an instant needs a plan that has it', async () => {
  const { rest, console } = tenant(({ growth }) => growth)
  const query = queryString({ ...FEBRUARY, groupBy: 'day', asOf: '2026-02-15' })
  for (const { status, body } of [
    await rest(`/api/v1/reports/calls${query}`),
    await console(`/api/tracking/reports/calls${query}`),
  ])
    expect([status, body.error?.code, body.error?.details]).toEqual([402, 'plan_upgrade_required', { feature: 'asOf' }])
  expect((await rest(`/api/v1/reports/calls${queryString({ ...FEBRUARY, groupBy: 'day' })}`)).status).toBe(200)
})

it('a report can be repeated byte for byte after later corrections', async () => {
  const parameters = { ...FEBRUARY, groupBy: 'outcome,tag:publisher' }
  const before = await report(parameters)
  const [call] = await listed({ campaignId: the.copy.campaignId })
  const post = (action: string, body: Json) => main.rest(`/api/v1/calls/${call.id}/${action}`, { method: 'POST', body })
  expect((await post('adjust', { converted: false, revenueCents: 0, reason: 'Wrong number' })).status).toBe(200)
  expect((await post('tags', { tags: { publisher: 'Bought' } })).status).toBe(200)
  const after = await report(parameters)
  expect(after.body.totals.revenueCents).toBe(before.body.totals.revenueCents - 1_234)
  expect(figuresByKeys(after.body)).not.toEqual(figuresByKeys(before.body))
  const again = await report({ ...parameters, asOf: before.body.asOf })
  expect(again.text).toBe(before.text)
  expect((await report({ ...parameters, asOf: '2026-02-01' })).body).toMatchObject({ groups: [], totals: { calls: 0 } })
})

describe('the file of a report', () => {
  const download = (parameters: Record<string, string | number>) =>
    report({ ...FEBRUARY, ...parameters }, '/export.csv')

  it('has the groups of the report, and no text that a spreadsheet takes for a formula', async () => {
    const { status, headers, text } = await download({ groupBy: 'number,outcome', sort: 'key' })
    expect(status, text).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="report-\d{4}-\d\d-\d\d\.csv"$/)
    const [head, ...lines] = text
      .replace(/^\uFEFF/, '')
      .trimEnd()
      .split('\r\n')
    expect(head).toBe(
      'number,numberLabel,outcome,outcomeLabel,calls,connected,converted,unrouted,missed,connectRate,conversionRate,revenueCents,payoutCents,profitCents,usageCents,totalTalkSeconds,avgTalkSeconds',
    )
    const { groups } = await read({ groupBy: 'number,outcome', sort: 'key' })
    expect(lines).toHaveLength(groups.length)
    for (const [place, line] of lines.entries()) {
      const { keys, labels, ...figures } = groups[place]
      expect(line).toBe(
        [
          `"${keys[0]}","'${labels[0]}"`,
          `"${keys[1]}","${labels[1]}"`,
          ...Object.values(figures).map((one) => one ?? ''),
        ].join(','),
      )
    }
  })

  it('is in the activity log before its first byte, with what was asked for', async () => {
    await download({ groupBy: 'day', limit: 7 })
    expect((await exportsOnRecord(main)).newest).toMatchObject({
      action: 'exported',
      severity: 'medium',
      entity: { kind: 'export', name: 'a report on calls' },
      changes: expect.arrayContaining([expect.objectContaining({ field: 'rows', after: 7 })]),
    })
  })

  it('is refused as the report is, and then not logged', async () => {
    const { total } = await exportsOnRecord(main)
    const { status, body } = await download({ groupBy: 'day,day' })
    expect([status, body.error?.code]).toEqual([400, 'bad_request'])
    expect((await exportsOnRecord(main)).total).toBe(total)
  })

  it('is for keys with the scope of reports, and for the console', async () => {
    const path = `/api/v1/reports/calls/export.csv${queryString({ ...FEBRUARY, groupBy: 'day' })}`
    const { status, body } = await stranger(path)
    expect([status, body.error?.code]).toEqual([403, 'insufficient_scope'])
    expect((await main.console(path.replace('v1', 'tracking'))).status).toBe(200)
  })
})

it('over a random history with late corrections, every report can be repeated byte for byte', async () => {
  const random = createSeededRandom(19)
  const pick = <Value>(values: readonly Value[]): Value => values[random.seed() % values.length] as Value
  const { copy, roofing, solar } = the
  const DIMENSIONS = ['campaign', 'outcome', 'conversionSource', 'buyer', 'state', 'tag:tier', 'hourOfDay', 'reason']
  const ids: string[] = (await listed()).map(({ id }) => id)
  const seen: { readonly query: Record<string, string>; readonly asOf: string; readonly text: string }[] = []
  const post = (action: string, body: Json) =>
    main.rest(`/api/v1/calls/${pick(ids)}/${action}`, { method: 'POST', body: { reason: 'Agreed', ...body } })
  // What a call's state refuses (409) changes nothing.
  const CHANGES = [
    () => post('adjust', { revenueCents: random.seed() % 9_000 }),
    () => post('adjust', { converted: random.seed() % 2 === 0 }),
    () =>
      main.rest(`/api/v1/calls/${pick(ids)}/tags`, { method: 'POST', body: { tags: { tier: pick(['gold', null]) } } }),
    async () => {
      const at = `2026-02-${10 + (random.seed() % 15)}T12:00:00.000Z`
      ids.push((await main.playCall({ to: pick([copy, roofing, solar]).e164, from: '+12125550177', at })).call.id)
    },
  ]
  for (let step = 0; step < 24; step++) {
    await pick(CHANGES)()
    const first = pick(DIMENSIONS)
    const groupBy = [first, pick(DIMENSIONS.filter((one) => one !== first))].join(',')
    const query = {
      ...FEBRUARY,
      groupBy,
      ...pick<Record<string, string>>([{}, { outcome: 'connected' }, { tagKey: 'tier' }]),
    }
    const { body, text } = await report(query)
    seen.push({ query, asOf: body.asOf, text })
  }
  for (const { query, asOf, text } of seen) expect((await report({ ...query, asOf })).text).toBe(text)
})
