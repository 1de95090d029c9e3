import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'

/** Milliseconds of a process's own work on a request, at a share of the requests. */
export interface OwnTime {
  readonly p50: number
  readonly p99: number
  readonly requests: number
}

interface Served {
  readonly receivedAt: number
  /** When its last outbound request was sent, and when the last answer to one was there. */
  sentAt: number
  answeredAt: number
  outbound: number
}

const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/**
 * Measures the HTTP requests of this process that lead to a number of outbound requests: from their arrival to the last
 * outbound request, and from the last answer to their own. It listens to Node's and undici's diagnostics channels, so that
 * any server is measured the same way. The result ends a measurement and begins the next.
 */
export function measureOwnTime(outbound: number): () => OwnTime {
  const served = new AsyncLocalStorage<Served>()
  const byResponse = new WeakMap<object, Served>()
  const byRequest = new WeakMap<object, Served>()
  let times: number[] = []

  const on = (channel: string, field: 'request' | 'response', heard: (subject: object) => void) =>
    subscribe(channel, (message) => {
      const subject: unknown = typeof message === 'object' && message !== null && Reflect.get(message, field)
      if (typeof subject === 'object' && subject !== null) heard(subject)
    })
  const now = () => performance.now()

  on('http.server.request.start', 'response', (response) => {
    const request = { receivedAt: now(), sentAt: 0, answeredAt: 0, outbound: 0 }
    byResponse.set(response, request)
    served.enterWith(request)
  })
  on('undici:request:create', 'request', (request) => {
    const cause = served.getStore()
    if (cause) byRequest.set(request, cause)
  })
  on('undici:client:sendHeaders', 'request', (request) => {
    const cause = byRequest.get(request)
    if (!cause) return
    cause.sentAt = now()
    cause.outbound += 1
  })
  on('undici:request:trailers', 'request', (request) => {
    const cause = byRequest.get(request)
    if (cause) cause.answeredAt = now()
  })
  on('http.server.response.finish', 'response', (response) => {
    const request = byResponse.get(response)
    if (request?.outbound !== outbound) return
    times.push(request.sentAt - request.receivedAt + now() - request.answeredAt)
  })
  return () => {
    const sorted = times.toSorted((one, other) => one - other)
    times = []
    return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), requests: sorted.length }
  }
}
