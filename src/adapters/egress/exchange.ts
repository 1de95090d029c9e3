import type { Dispatcher } from 'undici'
import type { EgressRequest, EgressResponse } from '../../ports/egress.ts'
import { EgressError, timedOut } from './egress-error.ts'

/** What came back of a request. */
type Received = Omit<Extract<EgressResponse, { readonly ok: true }>, 'ms'>

/** Statuses below are no answers yet (RFC 9110, 15.2). */
const FIRST_FINAL_STATUS = 200

type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>

const flatHeaders = (headers: ReceivedHeaders) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)] as const))

/**
 * Sends one request and reads its answer, within the time and the size that it has. It works on the dispatcher: an auction
 * asks many at once, and a stream and a signal for each would cost more than the request.
 * @throws EgressError, or the error of the connection
 */
export function exchange(
  dispatcher: Dispatcher,
  { origin, pathname, search }: URL,
  { method, headers, body, timeoutMs, maxBytes }: EgressRequest,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    let request: Dispatcher.DispatchController | null = null
    let failure: Error | null = null
    let [status, bytes] = [0, 0]
    let received: ReceivedHeaders = {}
    const parts: Buffer[] = []

    const fail = (error: Error) => {
      clearTimeout(timer)
      failure ??= error
      reject(failure)
      request?.abort(failure)
    }
    const timer = setTimeout(() => fail(timedOut()), timeoutMs)

    dispatcher.dispatch(
      { origin, path: `${pathname}${search}`, method, headers, body },
      {
        onRequestStart(controller) {
          request = controller
          // A request that waits for a connection cannot be withdrawn before its turn.
          if (failure) controller.abort(failure)
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          if (statusCode < FIRST_FINAL_STATUS) return
          status = statusCode
          received = responseHeaders
        },
        onResponseData(_controller, chunk) {
          bytes += chunk.length
          if (bytes > maxBytes) fail(new EgressError('too_large', `The response is larger than ${maxBytes} bytes.`))
          else parts.push(chunk)
        },
        onResponseEnd() {
          clearTimeout(timer)
          const text = parts.length === 1 ? String(parts[0]) : Buffer.concat(parts).toString('utf8')
          resolve({ ok: true, status, headers: flatHeaders(received), body: text })
        },
        onResponseError: (_controller, error) => fail(error),
      },
    )
  })
}
