import type { z } from 'zod'
import type { Actor } from '../kernel/event.ts'
import type { Mount, Tenant } from '../kernel/query.ts'
import type { Refusal } from '../kernel/refusal.ts'

/** Who is asking, after every check that comes before the request is read (Supplement 1.13). */
export interface Principal {
  readonly actor: Actor
  /** Null on public routes alone. */
  readonly tenant: Tenant | null
  /** What identifies the credential to limits and idempotency: never the secret. */
  readonly credentialId: string
  /** Requests a minute that this credential may make; null for no limit. */
  readonly ratePerMinute: number | null
}

/** What a route asks of the one who calls it. */
export interface Requirement {
  readonly surface: Mount['surface']
  readonly scope: string | null
  /** A write is refused on a lapsed subscription where a read is not (console). */
  readonly write: boolean
}

/** Checks a credential against a route's requirement: principal, or the first refusal in the documented order. */
export type Authenticate = (
  requirement: Requirement,
  request: { readonly bearer: string | null; readonly agencyId: string | null; readonly ip: string },
) => Promise<Principal | Refusal>

/** A request that has passed its checks, parsed. */
export interface ApiRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly principal: Principal
  readonly surface: Mount['surface']
  readonly requestId: string
  readonly idempotencyKey: string | null
  /** Entity tags, one of which the record must have (`If-Match`); null when the request does not care. */
  readonly ifMatch: readonly string[] | null
  readonly ip: string
  /** Log position that the answer must have read (`svc-min-position`); null for none. */
  readonly minPosition: number | null
}

/** An answer: JSON bytes ready to send, or a value to be written as JSON. */
export interface ApiAnswer {
  readonly status: number
  readonly body: Uint8Array | Readonly<Record<string, unknown>> | null
  readonly headers?: Readonly<Record<string, string>>
  /** Log position that the answer reflects (`svc-position`). */
  readonly position: number | null
}

/** One route, built from a command's or a query's mount by the composition root. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly surface: Mount['surface']
  readonly scope: string | null
  readonly write: boolean
  /** Stable name, the OpenAPI operation id. */
  readonly name: string
  readonly summary: string
  readonly params: z.ZodType
  readonly query: z.ZodType
  /** Null for a route without a body. */
  readonly body: z.ZodType | null
  /** Successful answers by status, for OpenAPI and for tests. */
  readonly responses: Readonly<Record<number, z.ZodType>>
  readonly rejects: readonly string[]
  readonly run: (request: ApiRequest) => Promise<ApiAnswer | Refusal>
}

/** What `/readyz` reports. */
export interface Readiness {
  readonly ready: boolean
  /** One sentence for each thing that is wrong. */
  readonly problems: readonly string[]
}
