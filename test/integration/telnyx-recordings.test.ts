import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openClient } from '../../src/adapters/telnyx/client.ts'
import { createTelnyxRecordings } from '../../src/adapters/telnyx/recordings.ts'
import { LEG_PREFIX } from '../../src/adapters/telnyx/webhook.ts'
import { CarrierRefused, CarrierUnavailable } from '../../src/ports/carrier-numbers.ts'
import type { CarrierRecordings } from '../../src/ports/carrier-recordings.ts'

const AUDIO = Buffer.from('ID3 this is a recording')

/** Recordings by id, with the status that their bytes are answered with; null for none, ever. */
const HELD: Readonly<Record<string, number | null>> = {
  'rec-1': 206,
  'rec-deleted': 404,
  'rec-broken': 500,
  'rec-silent': null,
}
/** How long the store of the bytes may be silent (ms), on the machine's own clock. */
const SILENCE_MS = 400

let recordings: CarrierRecordings
let base = ''
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', base)
  const [, collection, id] = url.pathname.split('/').slice(1)
  const json = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const row = (of: string) => ({ id: of, download_urls: { mp3: `${base}/bytes/${of}` } })
  if (url.pathname.startsWith('/bytes/')) {
    const status = HELD[url.pathname.slice('/bytes/'.length)]
    if (!status) return
    const [, first = '0', last = '0'] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
    const part = AUDIO.subarray(Number(first), Number(last) + 1)
    return response.writeHead(status, { 'content-range': `bytes ${first}-${last}/${AUDIO.length}` }).end(part)
  }
  if (collection !== 'recordings') return json(404, {})
  if (id === 'forbidden') return json(403, { errors: [{ code: '10010', detail: 'Not yours.' }] })
  if (id !== undefined) return id in HELD ? json(200, { data: row(id) }) : json(404, { errors: [{ code: '10005' }] })
  const rows = url.searchParams.get('filter[call_leg_id]') === 'leg-1' ? [row('rec-1')] : []
  return json(200, { data: rows, meta: { page_number: 1, page_size: 20, total_pages: 1, total_results: rows.length } })
})

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  recordings = createTelnyxRecordings(
    openClient({ apiKey: 'KEY', connectionId: '1', apiBase: `${base}/v2`, timeoutMs: SILENCE_MS }),
  )
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const open = (carrierRecordingId: string) =>
  recordings.open({ carrierCallId: 'session', carrierRecordingId, format: 'mp3' }, new AbortController().signal)

describe('recordings of Telnyx', () => {
  test.each(['rec-1', `${LEG_PREFIX}leg-1`])('%s is read, whole and in part', async (id) => {
    const audio = await open(id)
    expect(audio?.bytes).toBe(AUDIO.length)
    const parts = async (first: number, last: number) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of audio?.read(first, last) ?? []) chunks.push(chunk)
      return Buffer.concat(chunks).toString()
    }
    expect(await parts(0, AUDIO.length - 1)).toBe(AUDIO.toString())
    expect(await parts(4, 7)).toBe('this')
  })

  test.each(['rec-deleted', 'rec-unknown', `${LEG_PREFIX}leg-2`])('%s is gone', async (id) => {
    expect(await open(id)).toBeNull()
  })

  test('distinguishes what is refused from what is unavailable now', async () => {
    await expect(open('forbidden')).rejects.toThrow(CarrierRefused)
    await expect(open('rec-broken')).rejects.toThrow(CarrierUnavailable)
    await expect(open('rec-silent')).rejects.toThrow(CarrierUnavailable)
  })
})
