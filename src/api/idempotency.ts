import { createHash } from 'node:crypto'
import { isRefusal, type Refusal, refuse } from '../kernel/refusal.ts'
import type { ApiRefusal, ApiRequest, ApiResponse, ApiRoute, Principal } from '../ports/api.ts'
import { headerNames } from '../ports/api-headers.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Secrets } from '../ports/secrets.ts'

/** How long a first outcome is answered again (Supplement 1.5). */
export const RETENTION_MS = 24 * 3_600_000
/** After this long an outcome that never came is given up: its process has died. */
const PENDING_TIMEOUT_MS = 60_000
const POLL_MS = 50

/** Refusals after which the same request is to be sent again: later, or when there is money (Document 1, "purchase"). */
const RETRYABLE: ReadonlySet<string> = new Set(['rate-limited', 'insufficient-funds'])

/** Where the outcome of a credential's key is kept. */
const entryKey = ({ credentialId }: Principal, key: string) => `idempotency:${digest(credentialId, key)}`

/** Tells that this answer is that of an earlier request with the same key. */
const REPLAY = { [headerNames.idempotentReplay]: 'true' } as const

interface IdempotencyEntry {
  /** SHA-256 of what was asked, sealed: a body may hold a password, which a bare hash would give away to guessing. */
  readonly asked: string
  /** The sealed outcome; null while it is under way. */
  readonly outcome: string | null
}

/** One word for several: SHA-256, in hex. */
export const digest = (...parts: readonly string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex')

export interface IdempotencyPorts {
  readonly ops: OperationalStore
  readonly secrets: Secrets
  readonly clock: Clock
}

/**
 * A write that keeps the first outcome of each `Idempotency-Key`, refusals too, sealed, for 24 hours: the same request
 * again is answered with it; the key with another request is a `conflict`. What only asks for time or money is no outcome.
 */
export function withIdempotency(route: ApiRoute, { ops, secrets, clock }: IdempotencyPorts): ApiRoute {
  const later = () => new Promise<void>((resolve) => clock.schedule(clock.now() + POLL_MS, resolve))

  async function firstOutcome(key: string, asked: string, request: ApiRequest): Promise<ApiResponse | ApiRefusal> {
    for (;;) {
      const now = clock.now()
      const entry = await ops.get(key, now)
      const kept = entry?.value as IdempotencyEntry | undefined
      if (kept && secrets.unseal(kept.asked) !== asked) {
        return refuse(
          'conflict',
          { 'Idempotency-Key': 'was used for another request' },
          'The key was used for another request.',
        )
      }
      if (kept?.outcome) return parseOutcome(secrets.unseal(kept.outcome))
      const underWay: IdempotencyEntry = { asked: secrets.seal(asked), outcome: null }
      if (!kept && (await ops.putIf(key, entry?.version ?? 0, underWay, now + PENDING_TIMEOUT_MS, now))) break
      await later()
    }
    try {
      const outcome = await route.run(request)
      if (isRefusal(outcome) && RETRYABLE.has(outcome.refused)) await ops.delete(key)
      else {
        const kept: IdempotencyEntry = { asked: secrets.seal(asked), outcome: secrets.seal(serializeOutcome(outcome)) }
        await ops.put(key, kept, clock.now() + RETENTION_MS)
      }
      return outcome
    } catch (error) {
      // A fault is no outcome: the same key may try again.
      await ops.delete(key).catch(() => undefined)
      throw error
    }
  }

  const { notFoundParam } = route
  return {
    ...route,
    rejects: [...new Set([...route.rejects, 'conflict'])],
    // What the first request took away is no reason to refuse the second.
    ...(notFoundParam && {
      async notFoundParam(asked) {
        const { idempotencyKey, principal } = asked
        const entry = idempotencyKey === null ? null : await ops.get(entryKey(principal, idempotencyKey), clock.now())
        return entry ? null : notFoundParam(asked)
      },
    }),
    run(request) {
      const { idempotencyKey, principal, params, query, body } = request
      if (idempotencyKey === null) return route.run(request)
      const workspaceId = principal.tenant?.workspaceId ?? ''
      const asked = digest(route.method, route.path, workspaceId, JSON.stringify([params, query, body]))
      return firstOutcome(entryKey(principal, idempotencyKey), asked, request)
    },
  }
}

function serializeOutcome(outcome: ApiResponse | Refusal): string {
  if (isRefusal(outcome) || !(outcome.body instanceof Uint8Array)) return JSON.stringify(outcome)
  return JSON.stringify({ ...outcome, body: JSON.parse(new TextDecoder().decode(outcome.body)) })
}

function parseOutcome(text: string): ApiResponse | ApiRefusal {
  const outcome = JSON.parse(text) as ApiResponse | ApiRefusal
  return { ...outcome, headers: { ...outcome.headers, ...REPLAY } }
}
