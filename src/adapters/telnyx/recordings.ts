import type { Telnyx } from 'telnyx'
import { CarrierUnavailable } from '../../ports/carrier-numbers.ts'
import type { CarrierRecordings } from '../../ports/carrier-recordings.ts'
import { requestIfFound } from './client.ts'
import { savedRecording } from './responses.ts'
import { LEG_PREFIX } from './webhook.ts'

/** Statuses of the file store for a deleted recording. */
const GONE: ReadonlySet<number> = new Set([404, 410])

async function fetchRange(url: string, first: number, last: number, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { headers: { range: `bytes=${first}-${last}` }, signal })
  } catch {
    throw new CarrierUnavailable('The carrier cannot provide the recording now.')
  }
}

/** Length of the whole file in bytes, from the response to a range request; null when it names none. */
function contentLength({ status, headers }: Response): number | null {
  const total = status === 206 ? headers.get('content-range')?.split('/')[1] : null
  return total && /^\d+$/.test(total) ? Number(total) : null
}

/** A recording by its id, or by its leg's. */
async function retrieveRecording(client: Telnyx, id: string, signal: AbortSignal): Promise<unknown> {
  if (!id.startsWith(LEG_PREFIX)) return client.recordings.retrieve(id, { signal })
  const { data } = await client.recordings.list({ filter: { call_leg_id: id.slice(LEG_PREFIX.length) } }, { signal })
  return { data: data?.[0] ?? {} }
}

/** Recordings in Telnyx's store, which issues a URL for each that is valid for some minutes. */
export function createTelnyxRecordings(client: Telnyx): CarrierRecordings {
  return {
    async open({ carrierRecordingId, format }, signal) {
      const found = await requestIfFound(
        () => retrieveRecording(client, carrierRecordingId, signal),
        (answer) => savedRecording.parse(answer).data,
      )
      const url = found?.download_urls?.[format]
      if (!url) return null
      const probe = await fetchRange(url, 0, 0, AbortSignal.any([signal, AbortSignal.timeout(client.timeout)]))
      await probe.body?.cancel()
      if (GONE.has(probe.status)) return null
      const bytes = contentLength(probe)
      if (bytes === null) throw new CarrierUnavailable('The carrier cannot provide the recording now.')
      return {
        bytes,
        async *read(first, last) {
          const part = await fetchRange(url, first, last, signal)
          if (part.status !== 206 || part.body === null) {
            throw new CarrierUnavailable('The carrier cannot provide the recording now.')
          }
          yield* part.body
        },
      }
    },
  }
}
