import { z } from 'zod'
import { callRecordings } from '../../projections/calls/call-recordings.ts'
import { AUDIO_PATHS } from '../../queries/calls/recording-shape.ts'
import { readOne } from '../../queries/shared/documents.ts'
import { RECORDING } from '../domain/shared/limits.ts'
import { isRefusal, refuse } from '../kernel/refusal.ts'
import { id } from '../kernel/wire.ts'
import type { ApiRefusal, ApiRequest, ApiResponse, ApiRoute } from '../ports/api.ts'
import type { Carrier } from '../ports/carrier.ts'
import type { AudioFormat } from '../ports/carrier-recordings.ts'
import type { Clock } from '../ports/clock.ts'
import type { ReadStore } from '../ports/read-store.ts'
import { byteRangeOf } from './byte-range.ts'
import { noParams } from './no-params.ts'
import { prefetchFirst } from './prefetch-first.ts'
import { orUpstreamError } from './writes/carrier-errors.ts'

const TYPES: Readonly<Record<AudioFormat, string>> = { mp3: 'audio/mpeg', wav: 'audio/wav' }

const params = z.object({ id, rid: id })
const audio = z.string().meta({ format: 'binary' })

/** Dependencies of the playback routes. */
export interface PlaybackPorts {
  readonly views: Pick<ReadStore, 'get'>
  readonly carrier: () => Carrier
  readonly clock: Clock
}

/** Streams a recording, or the requested range of it, from the carrier. The audio is not stored. */
async function playRecording(
  { views, carrier, clock }: PlaybackPorts,
  { params: sent, principal, range, connection }: ApiRequest,
): Promise<ApiResponse | ApiRefusal> {
  const path = params.parse(sent)
  const document = await readOne(views, callRecordings, principal.tenant?.workspaceId ?? '', path.id)
  const recording = document?.recordings.find(({ id }) => id === path.rid)
  if (!recording) return refuse('recording-not-found')
  if (Date.parse(recording.expiresAt) <= clock.now()) return refuse('recording-expired')
  const saved = await orUpstreamError(() => carrier().recordings.open(recording, connection.closeSignal()))
  if (isRefusal(saved)) return saved
  if (saved === null) return refuse('recording-expired')
  const { bytes } = saved
  const part = byteRangeOf(range, bytes)
  if (part === null) return { ...refuse('range-not-satisfiable'), headers: { 'content-range': `bytes */${bytes}` } }
  const { first, last } = part === 'whole' ? { first: 0, last: bytes - 1 } : part
  const body = await orUpstreamError(() => prefetchFirst(saved.read(first, last)))
  if (isRefusal(body)) return body
  return {
    status: part === 'whole' ? 200 : 206,
    body,
    position: null,
    headers: {
      'content-type': TYPES[recording.format],
      'content-length': String(last - first + 1),
      'content-disposition': 'inline',
      'accept-ranges': 'bytes',
      'cache-control': `private, max-age=${RECORDING.cacheSeconds}`,
      ...(part === 'whole' ? {} : { 'content-range': `bytes ${first}-${last}/${bytes}` }),
    },
  }
}

/** Routes that stream the audio of a call's recording (Document 2, "stream a recording"). */
export function recordingRoutes(ports: PlaybackPorts): readonly ApiRoute[] {
  const route = {
    method: 'GET',
    write: false,
    name: 'play-recording',
    summary: 'Play a recording of a call',
    params,
    query: noParams,
    body: null,
    responses: { 200: audio, 206: audio },
    responseHeaders: ['content-disposition', 'accept-ranges', 'cache-control'],
    contentType: 'audio/*',
    hasContentLength: true,
    rejects: ['recording-not-found', 'recording-expired', 'range-not-satisfiable', 'upstream-error'],
    run: (request: ApiRequest) => playRecording(ports, request),
  } as const
  return [
    { ...route, surface: 'rest', path: AUDIO_PATHS.rest, scope: 'calls:read' },
    { ...route, surface: 'console', path: AUDIO_PATHS.console, scope: null },
  ]
}
