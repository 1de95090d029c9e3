import { createHash } from 'node:crypto'
import { z } from 'zod'
import { IDEMPOTENCY } from '../domain/shared/limits.ts'
import { isRefusal, type Refusal, refuse } from '../kernel/refusal.ts'
import type { ApiRefusal, ApiRequest, ApiResponse, ApiRoute, Principal } from '../ports/api.ts'
import { headerNames } from '../ports/api-headers.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import { idempotencyPlace } from '../ports/sealed-places.ts'
import type { Secrets } from '../ports/secrets.ts'

/** How long a first outcome is replayed (Supplement 1.5). */
export const RETENTION_MS = IDEMPOTENCY.hours * 3_600_000
/** Lifetime of an entry without an outcome: by then its process must have died. */
const PENDING_TIMEOUT_MS = 60_000
const POLL_MS = 50

/** Refusals that are not stored, so that the same request can be retried (Document 1, "purchase"). */
const RETRYABLE: ReadonlySet<string> = new Set(['rate-limited', 'insufficient-funds'])

/** Key of the entry in the operational store. */
const entryKey = ({ credentialId }: Principal, key: string) => `idempotency:${digest(credentialId, key)}`

/** Marks a response as the replay of an earlier one. */
const REPLAY = { [headerNames.idempotentReplay]: 'true' } as const

/** An entry as stored: its field names are the storage format. */
const idempotencyEntry = z.object({
  /** SHA-256 of the request, sealed: a body may contain a password, which could be guessed from a bare hash. */
  asked: z.string(),
  /** The sealed outcome; null while the request is in progress. */
  outcome: z.string().nullable(),
})
type IdempotencyEntry = Readonly<z.infer<typeof idempotencyEntry>>

const json = z.record(z.string(), z.unknown()).nullable()
const headers = z.record(z.string(), z.string()).optional()
/** An outcome as stored. */
const storedOutcome = z.union([
  z.object({ refused: z.string(), message: z.string().nullable(), details: json, headers }),
  z.object({ status: z.int(), body: json, position: z.number().nullable(), headers }),
])

/** SHA-256 of a list of texts, in hex. */
export const digest = (...parts: readonly string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex')

/** Dependencies of idempotent writes. */
export interface IdempotencyPorts {
  readonly ops: OperationalStore
  readonly secrets: Secrets
  readonly clock: Clock
}

const usedForAnother = () =>
  refuse('conflict', { 'Idempotency-Key': 'was used for another request' }, 'The key was used for another request.')

/**
 * Stores the first outcome of each `Idempotency-Key` of a write route, sealed, for 24 hours. The same request with the key
 * replays it, refusals included; another request with the key is a `conflict`. Retryable refusals and errors are not stored.
 * @throws StoreUnavailable from `run` and `notFoundParam`
 */
export function withIdempotency(route: ApiRoute, { ops, secrets, clock }: IdempotencyPorts): ApiRoute {
  const waitForPoll = () => new Promise<void>((resolve) => clock.schedule(clock.now() + POLL_MS, resolve))

  async function firstOutcome(
    key: string,
    requestHash: string,
    request: ApiRequest,
  ): Promise<ApiResponse | ApiRefusal> {
    const requestPlace = idempotencyPlace(key, 'request')
    const outcomePlace = idempotencyPlace(key, 'outcome')
    for (;;) {
      const now = clock.now()
      const entry = await ops.get(key, now)
      const stored = entry && idempotencyEntry.parse(entry.value)
      if (stored && secrets.unseal(stored.asked, requestPlace) !== requestHash) return usedForAnother()
      if (stored?.outcome) return parseOutcome(secrets.unseal(stored.outcome, outcomePlace))
      const pending: IdempotencyEntry = { asked: secrets.seal(requestHash, requestPlace), outcome: null }
      if (!stored && (await ops.putIf(key, entry?.version ?? 0, pending, now + PENDING_TIMEOUT_MS, now))) break
      await waitForPoll()
    }
    try {
      const outcome = await route.run(request)
      if (isRefusal(outcome) && RETRYABLE.has(outcome.refused)) await ops.delete(key)
      else {
        const asked = secrets.seal(requestHash, requestPlace)
        const entry = { asked, outcome: secrets.seal(serializeOutcome(outcome), outcomePlace) }
        await ops.put(key, entry satisfies IdempotencyEntry, clock.now() + RETENTION_MS)
      }
      return outcome
    } catch (error) {
      // An error is not an outcome: a request with the same key may retry.
      await ops.delete(key).catch(() => undefined)
      throw error
    }
  }

  const { notFoundParam } = route
  return {
    ...route,
    rejects: [...new Set([...route.rejects, 'conflict'])],
    // A replay does not need the record: the first request may have deleted it.
    ...(notFoundParam && {
      async notFoundParam(request) {
        const { idempotencyKey, principal } = request
        const entry = idempotencyKey === null ? null : await ops.get(entryKey(principal, idempotencyKey), clock.now())
        return entry ? null : notFoundParam(request)
      },
    }),
    run(request) {
      const { idempotencyKey, principal, params, query, body } = request
      if (idempotencyKey === null) return route.run(request)
      const { workspaceId = '', publisherId } = principal.tenant ?? {}
      const place = publisherId === undefined ? [workspaceId] : [workspaceId, publisherId]
      const requestHash = digest(route.method, route.path, ...place, JSON.stringify([params, query, body]))
      return firstOutcome(entryKey(principal, idempotencyKey), requestHash, request)
    },
  }
}

function serializeOutcome(outcome: ApiResponse | Refusal): string {
  if (isRefusal(outcome) || !(outcome.body instanceof Uint8Array)) return JSON.stringify(outcome)
  return JSON.stringify({ ...outcome, body: JSON.parse(new TextDecoder().decode(outcome.body)) })
}

function parseOutcome(text: string): ApiResponse | ApiRefusal {
  const outcome = storedOutcome.parse(JSON.parse(text))
  return { ...outcome, headers: { ...outcome.headers, ...REPLAY } }
}
