import { headerNames } from '../../../src/ports/api-headers.ts'
import type { ApiClient, Json } from '../e2e/api-client.ts'
import { waitUntil } from '../e2e/server.ts'
import { type AcknowledgedRecords, sourceOf } from './traffic.ts'

const PAGE = 200

/** Every row of a list. */
async function allOf(ask: ApiClient, path: string): Promise<readonly Json[]> {
  const rows: Json[] = []
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { body } = await waitUntil('The page is answered', async () => {
      const answer = await ask(`${path}${path.includes('?') ? '&' : '?'}page=${page}&pageSize=${PAGE}`)
      return answer.status === 200 && !answer.headers.has(headerNames.readLag) && answer
    })
    rows.push(...body.data)
    pages = body.totalPages
  }
  return rows
}

/** What is there other than once of some ids, a sentence each. */
function notOnce(what: string, expected: Iterable<string>, found: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const id of found) counts.set(id, (counts.get(id) ?? 0) + 1)
  return [...expected].flatMap((id) => {
    const count = counts.get(id) ?? 0
    return count === 1 ? [] : [`${what} ${id} was acknowledged and is listed ${count} times`]
  })
}

/** What clients were told and is not there, or more than once, a sentence each. `console` reads, `visitor` sends heartbeats. */
export async function lostOf(
  { buyers, calls, auctions, sessions }: AcknowledgedRecords,
  console: ApiClient,
  visitor: ApiClient,
): Promise<readonly string[]> {
  const named = (await allOf(console, '/api/tracking/buyers')).map(({ id, name }) => `${id} ${name}`)
  const called = (await allOf(console, '/api/tracking/calls')).map(({ id }) => id)
  const pinged = (await allOf(console, '/api/tracking/pings?direction=inbound')).map(({ id }) => id)
  const gone: string[] = []
  for (const [n, [sessionId, visitorId]] of [...sessions].entries()) {
    // Each from an address of its own, so that no limit of one is reached.
    const headers = sourceOf(n)
    const beat = await visitor('/api/public/dni/heartbeat', { method: 'POST', headers, body: { sessionId, visitorId } })
    if (beat.status !== 200) gone.push(`Session ${sessionId} was acknowledged and is answered ${beat.status}`)
  }
  return [
    ...notOnce(
      'Buyer',
      [...buyers].map(([id, name]) => `${id} ${name}`),
      named,
    ),
    ...notOnce('Call', calls, called),
    ...notOnce('Auction', auctions, pinged),
    ...gone,
  ]
}
