import type { z } from 'zod'
import { deliveryEvents } from '../../../src/domain/delivery/delivery.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { Doc } from '../../../src/ports/read-store.ts'
import { type DueEvent, dueEvents, SAYINGS } from './fired-events.ts'

/** An endpoint that nobody changes, as its owner sees it. */
export interface Endpoint {
  readonly id: string
  readonly url: string
  /** Names of the events that it hears; null for all. */
  readonly events: readonly string[] | null
  readonly campaignId: string | null
}

/** A request that a receiver got; `status` is null where it did not answer. */
export interface GotRequest {
  readonly url: string
  readonly requestId: string
  readonly attempt: number
  readonly body: string
  readonly status: number | null
}

/** The documents of a read model by id. */
type Documents = Readonly<Record<string, Doc>>

type Queued = z.infer<typeof deliveryEvents.DeliveryQueued>
type Attempt = z.infer<typeof deliveryEvents.DeliveryAttempted>

/** A delivery as the log has it. */
interface Logged {
  readonly queued: Queued
  readonly attempts: Attempt[]
}

/** Attempts of an event, and how long each waits at least after the one before it failed (ms; Document 2, "Answering a delivery"). */
const MOST_ATTEMPTS = 4
const WAITS_MS: Readonly<Record<number, number>> = { 2: 1_000, 3: 5_000, 4: 25_000 }

/** How long (ms) an attempt waits at least after the one before it failed. */
export const deliveryWaitMs = (attempt: number): number => WAITS_MS[attempt] ?? 0

/** Each delivery of a log with its attempts, in order. */
function deliveriesIn(events: readonly RecordedEvent[]): readonly Logged[] {
  const logged = new Map<string, Logged>()
  for (const { type, data } of events) {
    if (type === 'DeliveryQueued') {
      const queued = deliveryEvents.DeliveryQueued.parse(data)
      logged.set(queued.deliveryId, { queued, attempts: [] })
    }
    if (type === 'DeliveryAttempted') {
      const attempt = deliveryEvents.DeliveryAttempted.parse(data)
      logged.get(attempt.deliveryId)?.attempts.push(attempt)
    }
  }
  return [...logged.values()]
}

/** Whether an endpoint hears an event (Document 2, "Which endpoints hear an event"). */
const hears = ({ events, campaignId }: Endpoint, due: DueEvent) =>
  (events === null || events.includes(due.name)) && (campaignId === null || campaignId === due.campaignId)

const textOf = (name: string, callId: unknown, said: Readonly<Record<string, unknown>>) => {
  const says = (SAYINGS[name] ?? []).map((key) => said[key] ?? null)
  return `${name} ${callId ?? ''} ${JSON.stringify(says)}`
}
const dueText = ({ name, callId, says }: DueEvent) => textOf(name, callId, says)
const queuedText = ({ event, data }: Queued) => textOf(event, data.callId, data)

/** Of each text how often it is in one list more than in the other. */
function surplus(list: readonly string[], other: readonly string[]): readonly string[] {
  const left = new Map<string, number>()
  for (const text of other) left.set(text, (left.get(text) ?? 0) + 1)
  return list.filter((text) => {
    const count = left.get(text) ?? 0
    left.set(text, count - 1)
    return count <= 0
  })
}

/** Every event is queued once for each endpoint that hears it, under one id at all of them, and nothing else is. */
function queueViolations(
  due: readonly DueEvent[],
  logged: readonly Logged[],
  endpoints: readonly Endpoint[],
): readonly string[] {
  const texts = new Map<string, string>()
  const broken: string[] = []
  for (const { queued } of logged) {
    const text = queuedText(queued)
    const known = texts.get(queued.requestId)
    if (known !== undefined && known !== text) broken.push(`${queued.requestId} names ${known}, and ${text}`)
    texts.set(queued.requestId, text)
  }
  for (const endpoint of endpoints) {
    const wanted = due.filter((one) => hears(endpoint, one)).map(dueText)
    const its = logged.filter(({ queued }) => queued.webhookId === endpoint.id)
    const queued = its.map((one) => queuedText(one.queued))
    broken.push(
      ...surplus(wanted, queued).map((text) => `${text} was not queued for ${endpoint.url}`),
      ...surplus(queued, wanted).map((text) => `${text} was queued for ${endpoint.url} once too often`),
    )
    if (new Set(its.map((one) => one.queued.requestId)).size < its.length)
      broken.push(`${endpoint.url} was queued one id twice`)
  }
  const known = new Set(endpoints.map(({ id }) => id))
  const strange = logged.filter(({ queued }) => !known.has(queued.webhookId))
  // The same events have the same ids at every endpoint: those of one that hears all name all of them.
  const ids = new Set(endpoints.filter(({ events, campaignId }) => !events && !campaignId).map(({ id }) => id))
  const named = new Set(logged.flatMap(({ queued }) => (ids.has(queued.webhookId) ? [queued.requestId] : [])))
  const others = ids.size === 0 ? [] : logged.filter(({ queued }) => !named.has(queued.requestId))
  return [
    ...broken,
    ...strange.map(({ queued }) => `${queued.requestId} was queued for nobody`),
    ...others.map(({ queued }) => `${queuedText(queued)} has an id of its own, ${queued.requestId}`),
  ]
}

/** An endpoint is queued the events of a call's history in their order. */
function orderViolations(
  due: readonly DueEvent[],
  logged: readonly Logged[],
  endpoints: readonly Endpoint[],
): readonly string[] {
  const own = due.filter(({ ofCall }) => ofCall)
  const calls = [...new Set(own.map(({ callId }) => callId))]
  return endpoints.flatMap((endpoint) =>
    calls.flatMap((callId) => {
      const wanted = own.filter((one) => one.callId === callId && hears(endpoint, one)).map(dueText)
      const known = new Set(wanted)
      const its = logged.filter(({ queued }) => queued.webhookId === endpoint.id && queued.data.callId === callId)
      const queued = its.map((one) => queuedText(one.queued)).filter((text) => known.has(text))
      return queued.join('\n') === wanted.join('\n')
        ? []
        : [`${endpoint.url} was queued the events of ${callId} in the order ${queued.join(', ')}`]
    }),
  )
}

const isAccepted = (status: number | null) => status !== null && status >= 200 && status < 300

/** A request says what was queued. */
function bodyViolations({ queued }: Logged, { attempt, body, requestId }: GotRequest): readonly string[] {
  const { id, event, data } = JSON.parse(body)
  const isSame = id === requestId && event === queued.event && JSON.stringify(data) === JSON.stringify(queued.data)
  return isSame ? [] : [`Attempt ${attempt} of ${requestId} was sent as ${body}`]
}

/** What the log says of an attempt is what its receiver saw. */
function attemptViolations(
  what: string,
  { n, status, accepted, error }: Attempt,
  got: readonly GotRequest[],
): readonly string[] {
  const own = got.filter(({ attempt }) => attempt === n)
  // Status 0: no answer, or no request.
  const isTrue = status === 0 || own.some((one) => one.status === status)
  return [
    ...(isTrue ? [] : [`Attempt ${n} of ${what} is logged with ${status}, and nobody answered so`]),
    ...(accepted === isAccepted(status) ? [] : [`Attempt ${n} of ${what} with ${status} is logged as ${accepted}`]),
    ...((error === null) === accepted ? [] : [`Attempt ${n} of ${what} is logged with the error ${error}`]),
  ]
}

/** A delivery has ended: accepted, or failed four times; and its log is what its receiver saw. */
function deliveryViolations(logged: Logged, url: string, got: readonly GotRequest[]): readonly string[] {
  const { queued, attempts } = logged
  const what = `${queued.requestId} (${queued.event}) to ${url}`
  const last = attempts.at(-1)
  const isOver = last?.accepted || attempts.length === MOST_ATTEMPTS
  const numbers = attempts.map(({ n }) => n)
  const isContiguous = numbers.every((n, place) => n === place + 1)
  const acceptedEarly = attempts.slice(0, -1).some(({ accepted }) => accepted)
  const known = new Set(numbers)
  return [
    ...(isOver ? [] : [`${what} was attempted ${attempts.length} times, and did not arrive`]),
    ...(isContiguous && !acceptedEarly ? [] : [`${what} has the attempts ${numbers}`]),
    ...(last?.accepted && !got.some(({ status }) => isAccepted(status)) ? [`${what} was never accepted`] : []),
    ...attempts.flatMap((attempt) => attemptViolations(what, attempt, got)),
    ...got
      .filter(({ attempt }) => !known.has(attempt))
      .map(({ attempt }) => `Attempt ${attempt} of ${what} is not in the log`),
    ...got.flatMap((request) => bodyViolations(logged, request)),
  ]
}

/** The counters of each endpoint, and the state of each delivery, are those of the log in which nothing waits. */
export function counterViolations(
  events: readonly RecordedEvent[],
  counters: Documents,
  rows: Documents,
): readonly string[] {
  const logged = deliveriesIn(events)
  const counted = Object.entries(counters).flatMap(([id, { delivered, failed, waiting }]) => {
    const made = logged.filter(({ queued }) => queued.webhookId === id).flatMap(({ attempts }) => attempts)
    const good = made.filter(({ accepted }) => accepted).length
    const isSame = delivered === good && failed === made.length - good && waiting === 0
    return isSame
      ? []
      : [`${id} counts ${delivered}, ${failed} and ${waiting}, not ${good}, ${made.length - good} and 0`]
  })
  const shown = logged.flatMap(({ queued, attempts }) => {
    const state = attempts.some(({ accepted }) => accepted) ? 'delivered' : 'failed'
    const row = rows[queued.deliveryId]
    return row?.state === state && row.dueMs === null
      ? []
      : [`${queued.deliveryId} is shown as ${row?.state}, not ${state}`]
  })
  return [...counted, ...shown]
}

/**
 * Judges what was queued, sent and recorded for endpoints that hear everything from the first event on and are never changed,
 * once nothing waits. `inOrder`: whether one process did it all, and nothing failed: only then the order is promised.
 */
export function deliveryLogViolations(
  events: readonly RecordedEvent[],
  endpoints: readonly Endpoint[],
  got: readonly GotRequest[],
  { inOrder }: { readonly inOrder: boolean },
): readonly string[] {
  const [due, logged] = [dueEvents(events), deliveriesIn(events)]
  const urls = new Map(endpoints.map(({ id, url }) => [id, url]))
  const requests = Map.groupBy(got, ({ url, requestId }) => `${url} ${requestId}`)
  const queued = new Set(logged.map((one) => `${urls.get(one.queued.webhookId)} ${one.queued.requestId}`))
  return [
    ...queueViolations(due, logged, endpoints),
    ...(inOrder ? orderViolations(due, logged, endpoints) : []),
    ...[...requests.keys()].filter((key) => !queued.has(key)).map((key) => `${key} was sent, and never queued`),
    ...logged.flatMap((one) => {
      const url = urls.get(one.queued.webhookId) ?? ''
      return deliveryViolations(one, url, requests.get(`${url} ${one.queued.requestId}`) ?? [])
    }),
  ]
}
