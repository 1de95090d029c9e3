import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TelnyxCalls } from './telnyx-calls.ts'

/** What befalls a request: an answer of one's own, an answer cut short once it is done, or none at all. */
export type TelnyxFault =
  | { readonly status: number; readonly body: unknown; readonly contentType?: string }
  | 'truncated'
  | 'silent'

/** A request that came in. */
export interface TelnyxRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly authorization: string | null
  readonly body: unknown
}

/** Telnyx's API on this machine, by its published shapes: numbers, and calls where it is given some. */
export interface TelnyxDouble {
  readonly apiBase: string
  readonly apiKey: string
  readonly connectionId: string
  readonly requests: readonly TelnyxRequest[]
  /** What befalls the next requests, one after another; null nothing. */
  readonly next: (...faults: readonly (TelnyxFault | null)[]) => void
  /** Numbers that the account holds, with the connection that each is pointed at. */
  readonly held: ReadonlyMap<string, string | null>
  /** How many orders have been made. */
  readonly orders: () => number
  /** Puts a number into the account as if it had been bought elsewhere. */
  readonly hold: (e164: string) => void
  readonly close: () => Promise<void>
}

interface Order {
  readonly id: string
  readonly e164: string
  readonly customer_reference: string | null
  readonly requirements_met: boolean
  status: 'pending' | 'success' | 'failure'
}

interface Stock {
  readonly e164: string
  readonly state: string | null
  readonly city: string | null
  readonly type: 'local' | 'toll_free'
  readonly features: readonly string[]
}

const PLACES = [
  { code: '310', state: 'CA', city: 'LOS ANGELES', type: 'local', features: ['sms', 'mms', 'voice', 'fax'] },
  { code: '212', state: 'NY', city: 'NEW YORK', type: 'local', features: ['sms', 'voice'] },
  { code: '800', state: null, city: null, type: 'toll_free', features: ['voice', 'sms'] },
] as const
const NUMBERS_OF_A_PLACE = 600
const LARGEST_PAGE = 250
/** Numbers that end so wait for papers, or cannot be had. */
const NEEDS_PAPERS = '0002'
const UNDELIVERABLE = '0003'

const stock: readonly Stock[] = PLACES.flatMap(({ code, ...place }) =>
  Array.from({ length: NUMBERS_OF_A_PLACE }, (_, n) => ({
    e164: `+1${code}${String(2_340_000 + n)}`,
    ...place,
  })),
)

/** Codes, titles and details as the published list of errors has them. */
function refused(...errors: readonly (readonly [string, string, string])[]) {
  return { errors: errors.map(([code, title, detail]) => ({ code, title, detail })) }
}

const absent = {
  status: 404,
  body: refused(['10005', 'Resource not found', 'The requested resource was not found.']),
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text === '' ? null : JSON.parse(text)
}

/**
 * Starts the double on a free port. `pageRows` is how many rows a page of a list holds at most; calls are on it where they
 * are given, and recordings as `recording` answers for them.
 */
export async function startTelnyxDouble({
  pageRows = LARGEST_PAGE,
  calls = null,
  recording = () => absent,
}: {
  readonly pageRows?: number
  readonly calls?: Pick<TelnyxCalls, 'answer'> | null
  readonly recording?: (id: string) => { readonly status: number; readonly body: unknown }
} = {}): Promise<TelnyxDouble> {
  const [apiKey, connectionId] = ['KEY0123', '1293384261075731499']
  const requests: TelnyxRequest[] = []
  const orders: Order[] = []
  const held = new Map<string, string | null>()
  const ids = new Map<string, string>()
  const faults: (TelnyxFault | null)[] = []

  const idOf = (e164: string) => ids.get(e164) ?? ids.set(e164, String(2_000_000_000 + ids.size)).get(e164)
  const e164Of = (id: string | undefined) => [...held.keys()].find((e164) => idOf(e164) === id)

  function search(query: TelnyxRequest['query']) {
    const of = (name: string) => query[`filter[${name}]`]
    const ndc = of('national_destination_code')
    const wanted = stock.filter(({ e164, state, city, type, features }) => {
      const national = e164.slice(2)
      const judged = ndc ? national.slice(ndc.length) : national
      return (
        !held.has(e164) &&
        (of('country_code') ?? 'US') === 'US' &&
        (!ndc || national.startsWith(ndc)) &&
        (of('administrative_area') ?? state) === state &&
        (of('locality') ?? city)?.toUpperCase() === city?.toUpperCase() &&
        (of('phone_number_type') ?? type) === type &&
        (of('features') ?? '').split(',').every((feature) => feature === '' || features.includes(feature)) &&
        judged.startsWith(of('phone_number][starts_with') ?? '') &&
        judged.endsWith(of('phone_number][ends_with') ?? '') &&
        judged.includes(of('phone_number][contains') ?? '')
      )
    })
    const found = wanted.slice(0, Number(of('limit') ?? 100))
    const data = found.map(({ e164, state, city, features }) => ({
      record_type: 'available_phone_number',
      phone_number: e164,
      vanity_format: '',
      best_effort: false,
      quickship: true,
      reservable: true,
      region_information: [
        { region_type: 'country_code', region_name: 'US' },
        ...(state ? [{ region_type: 'state', region_name: state }] : []),
        ...(city ? [{ region_type: 'rate_center', region_name: city }] : []),
      ],
      cost_information: { upfront_cost: '1.00', monthly_cost: '1.00', currency: 'USD' },
      features: features.map((name) => ({ name })),
    }))
    const meta = { total_results: data.length, best_effort_results: 0 }
    return { status: 200, body: { data, meta, metadata: meta } }
  }

  function paged(rows: readonly unknown[], query: TelnyxRequest['query']) {
    const [number, size] = [Number(query['page[number]'] ?? 1), Number(query['page[size]'] ?? 20)]
    if (size > LARGEST_PAGE) {
      return { status: 400, body: refused(['10015', 'Bad Request', 'The page size must be at most 250.']) }
    }
    const fit = Math.min(size, pageRows)
    const meta = {
      page_number: number,
      page_size: fit,
      total_pages: Math.ceil(rows.length / fit),
      total_results: rows.length,
    }
    return { status: 200, body: { data: rows.slice((number - 1) * fit, number * fit), meta } }
  }

  const orderRow = ({ e164, ...order }: Order) => ({
    record_type: 'number_order',
    ...order,
    phone_numbers_count: 1,
    connection_id: connectionId,
    phone_numbers: [{ record_type: 'number_order_phone_number', phone_number: e164, status: order.status }],
  })

  function makeOrder(body: unknown) {
    const sent = JSON.parse(JSON.stringify(body))
    const e164: string = sent.phone_numbers[0].phone_number
    if (held.has(e164) || !stock.some((one) => one.e164 === e164)) {
      return {
        status: 422,
        body: refused(
          ['85007', 'Phone number unavailable', `${e164} is no longer available.`],
          ['85001', 'Invalid order', 'The order holds no number that can be bought.'],
        ),
      }
    }
    const order: Order = {
      id: `00000000-0000-4000-8000-${String(orders.length).padStart(12, '0')}`,
      e164,
      customer_reference: sent.customer_reference ?? null,
      requirements_met: !e164.endsWith(NEEDS_PAPERS),
      status: 'pending',
    }
    orders.push(order)
    if (!e164.endsWith(UNDELIVERABLE)) held.set(e164, sent.connection_id ?? null)
    return { status: 200, body: { data: orderRow(order) } }
  }

  /** An order is filled by the time that somebody asks after it. */
  function readOrder(order: Order) {
    if (order.requirements_met) order.status = order.e164.endsWith(UNDELIVERABLE) ? 'failure' : 'success'
    return order
  }

  function answer({ method, path, query, authorization, body }: TelnyxRequest) {
    if (authorization !== `Bearer ${apiKey}`) {
      return { status: 401, body: refused(['10009', 'Authentication failed', 'The API key is not valid.']) }
    }
    const [collection, id] = path.split('/').slice(2)
    if (collection === 'calls' && calls) return calls.answer(method, path.split('/').slice(2), body)
    if (collection === 'recordings' && id) return recording(id)
    if (collection === 'available_phone_numbers') return search(query)
    if (collection === 'number_orders' && method === 'POST') return makeOrder(body)
    if (collection === 'number_orders' && id) {
      const order = orders.find((one) => one.id === id)
      return order ? { status: 200, body: { data: orderRow(readOrder(order)) } } : absent
    }
    if (collection === 'number_orders') {
      const reference = query['filter[customer_reference]']
      const found = orders.filter((order) => order.customer_reference === reference)
      return paged(
        found.map((order) => orderRow(readOrder(order))),
        query,
      )
    }
    const e164 = e164Of(id)
    if (id && e164 === undefined) return absent
    if (method === 'PATCH' && e164) {
      held.set(e164, JSON.parse(JSON.stringify(body)).connection_id)
      return { status: 200, body: { data: { id, phone_number: e164, status: 'active' } } }
    }
    if (method === 'DELETE' && e164) {
      held.delete(e164)
      return { status: 200, body: { data: { id, phone_number: e164, status: 'deleted' } } }
    }
    const digits = query['filter[phone_number]'] ?? ''
    const rows = [...held.keys()].filter((one) => one.slice(1).includes(digits))
    return paged(
      rows.map((one) => ({ record_type: 'phone_number', id: idOf(one), phone_number: one, status: 'active' })),
      query,
    )
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://double')
    const asked: TelnyxRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      authorization: request.headers.authorization ?? null,
      body: await bodyOf(request),
    }
    requests.push(asked)
    const met = faults.shift() ?? null
    if (met === 'silent') return
    const own = met !== null && met !== 'truncated'
    const { status, body } = own ? met : answer(asked)
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = own ? (met.contentType ?? 'application/json') : 'application/json; charset=utf-8'
    response.writeHead(status, { 'content-type': type })
    response.end(met === 'truncated' ? text.slice(0, text.length / 2) : text)
  }

  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    apiBase: `http://127.0.0.1:${port}/v2`,
    apiKey,
    connectionId,
    requests,
    next: (...coming) => void faults.push(...coming),
    held,
    orders: () => orders.length,
    hold: (e164) => void held.set(e164, null),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
