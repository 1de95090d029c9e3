import type { Dispatcher, Pool } from 'undici'
import type { EgressRequest, EgressResponse } from '../../ports/egress.ts'
import { EgressError, timedOut, withoutStacks } from './egress-error.ts'
import { createKeptBody } from './kept-body.ts'

/** What came back of a request. */
type Received = Omit<Extract<EgressResponse, { readonly ok: true }>, 'ms'>

/** Statuses below are no answers yet (RFC 9110, 15.2). */
const FIRST_FINAL_STATUS = 200

type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>

const isFlat = (headers: ReceivedHeaders): headers is Received['headers'] =>
  Object.values(headers).every((value) => typeof value === 'string')

const flatHeaders = (headers: ReceivedHeaders) =>
  isFlat(headers)
    ? headers
    : Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)] as const))

/**
 * Sends one request to an origin's pool and reads its answer, within the time and the size that it has. It works on the dispatcher:
 * an auction asks many at once, and a stream and a signal for each would cost more than the request.
 * @throws EgressError, or the error of the connection
 */
export function exchange(
  pool: Pick<Pool, 'dispatch'>,
  { pathname, search }: URL,
  { method, headers, body, timeoutMs, maxBytes, answer = 'whole', bodyMs = timeoutMs }: EgressRequest,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const excerpt = answer === 'excerpt'
    const kept = createKeptBody(maxBytes)
    let request: Dispatcher.DispatchController | null = null
    let failure: Error | null = null
    let status = 0
    let received: ReceivedHeaders = {}

    const succeed = () => resolve({ ok: true, status, headers: flatHeaders(received), body: kept.text() })
    /** Ends the request early, and its connection with it. An excerpt whose headers came is an answer all the same. */
    const stop = (error: Error) => {
      if (failure) return
      failure = error
      clearTimeout(timer)
      if (excerpt && status > 0) succeed()
      else reject(error)
      withoutStacks(() => request?.abort(error))
    }
    // After a busy moment timers run before what has come is read: an answer that waits there was in time.
    const stopAfter = (ms: number) => setTimeout(() => setImmediate(() => stop(timedOut())), ms)
    let timer = stopAfter(timeoutMs)

    pool.dispatch(
      { path: `${pathname}${search}`, method, headers, body },
      {
        onRequestStart(controller) {
          request = controller
          // A request that waits for a connection cannot be withdrawn before its turn. An error here leaves the connection to
          // the next one; `abort` would close it.
          if (failure) throw failure
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          if (statusCode < FIRST_FINAL_STATUS) return
          status = statusCode
          received = responseHeaders
          if (!excerpt) return
          clearTimeout(timer)
          timer = stopAfter(bodyMs)
        },
        onResponseData(_controller, chunk) {
          if (!kept.add(chunk)) stop(new EgressError('too_large', `The response is larger than ${maxBytes} bytes.`))
        },
        onResponseEnd() {
          clearTimeout(timer)
          succeed()
        },
        onResponseError: (_controller, error) => stop(error),
      },
    )
  })
}
