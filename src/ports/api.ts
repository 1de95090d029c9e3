import type { z } from 'zod'
import type { Actor } from '../kernel/event.ts'
import type { Mount, Tenant } from '../kernel/query.ts'
import type { Refusal } from '../kernel/refusal.ts'

/** The bearer of a credential that works, whatever it may do. */
export interface ApiClient {
  readonly actor: Actor
  /** What identifies the credential to limits and idempotency: never the secret. */
  readonly credentialId: string
  /** Requests a minute that this credential may make; null for no limit. */
  readonly ratePerMinute: number | null
}

/** Who is asking, after every check that comes before the request is read (Supplement 1.13). */
export interface Principal extends ApiClient {
  /** Null on public routes alone. */
  readonly tenant: Tenant | null
  /** SHA-256 of the session's token, in hex; left out where the credential is no session. */
  readonly sessionHash?: string
}

/** A refusal by one of those checks; with the caller, where the credential itself works. */
export interface AuthRejection extends Refusal {
  readonly client?: ApiClient
}

/** What a route asks of the one who calls it. */
export interface AccessRequirement {
  readonly surface: Mount['surface']
  readonly scope: string | null
  /** A write is refused on a lapsed subscription where a read is not (console). */
  readonly write: boolean
  /** Whether a write is allowed on a lapsed subscription all the same. */
  readonly allowLapsed?: boolean
  /** Whether a user must be an owner of the workspace. */
  readonly ownerOnly?: boolean
}

/** Checks a credential against a route's requirement: principal, or the first refusal in the documented order. */
export type Authenticator = (
  requirement: AccessRequirement,
  request: { readonly bearer: string | null; readonly agencyId: string | null; readonly ip: string },
) => Promise<Principal | AuthRejection>

/** A request that has passed its checks, parsed. */
export interface ApiRequest<Params = unknown, Body = unknown, Filter = unknown> {
  readonly params: Params
  readonly query: Filter
  readonly body: Body
  readonly principal: Principal
  readonly surface: Mount['surface']
  readonly requestId: string
  readonly idempotencyKey: string | null
  /** Entity tags, one of which the record must have (`If-Match`); null when the request does not care. */
  readonly ifMatch: readonly string[] | null
  readonly ip: string
  /** Log position that the answer must have read (`svc-min-position`); null for none. */
  readonly minPosition: number | null
  /** The part of the answer that is asked for, as it was sent (`Range`); null for the whole. */
  readonly range: string | null
  readonly connection: Connection
}

/** The part of a request that is known before its body is read. */
export type PathCheckRequest<Params = unknown> = Pick<ApiRequest<Params>, 'params' | 'principal' | 'idempotencyKey'>

/** The way back to the one who asked, for answers that take their time. */
export interface Connection {
  /** Aborts when nobody reads the answer any more. */
  readonly closeSignal: () => AbortSignal
  /** Drops the connection: who does not read is not waited for. */
  readonly drop: () => void
}

/** A body that nothing was read into, with the headers that it came under, in lower case. */
export interface RawBody {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly bytes: Uint8Array
}

/** Bytes that are made while they are sent. One that throws drops the connection, so that nobody takes a part for the whole. */
export type ByteStream = AsyncIterable<Uint8Array>

/** An answer: JSON bytes ready to send, a value to be written as JSON, or a stream, whose type `content-type` names. */
export interface ApiResponse {
  readonly status: number
  readonly body: Uint8Array | Readonly<Record<string, unknown>> | ByteStream | null
  readonly headers?: Readonly<Record<string, string>>
  /** Log position that the answer reflects (`svc-position`). */
  readonly position: number | null
}

/** A refusal, with headers of its own where it has some. */
export interface ApiRefusal extends Refusal {
  readonly headers?: Readonly<Record<string, string>>
}

/** One route, built from a command's or a query's mount by the composition root. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly surface: Mount['surface']
  readonly scope: string | null
  readonly write: boolean
  readonly allowLapsed?: boolean
  readonly ownerOnly?: boolean
  /** Whether the body is handed on as it came, of any type, with the headers: as a `RawBody`. */
  readonly raw?: true
  /** Stable name, the OpenAPI operation id. */
  readonly name: string
  readonly summary: string
  readonly params: z.ZodType
  readonly query: z.ZodType
  /** Null for a route without a body. */
  readonly body: z.ZodType | null
  /** Fields that a body may not name here though the record has them: `field-not-writable`, before anything else of the body. */
  readonly readOnlyFields?: readonly string[]
  /** Successful answers by status, for OpenAPI and for tests. */
  readonly responses: Readonly<Record<number, z.ZodType>>
  /** Headers of its own that its successful answers may bring, in lower case. */
  readonly responseHeaders?: readonly string[]
  /** Media type of the successful answers; JSON where it is left out. */
  readonly contentType?: string
  /** Whether a streamed answer tells its length before it is made, so that HEAD is answered without making it. */
  readonly hasContentLength?: boolean
  readonly rejects: readonly string[]
  /** Name of the path parameter whose record the workspace does not have; null when it has them all. Asked before the body is read. */
  notFoundParam?(request: PathCheckRequest): Promise<string | null>
  run(request: ApiRequest): Promise<ApiResponse | ApiRefusal>
}

/** Whether a body is made while it is sent. */
export function isStream(body: ApiResponse['body']): body is ByteStream {
  return body !== null && Symbol.asyncIterator in body
}

/** What `/readyz` reports. */
export interface Readiness {
  readonly ready: boolean
  /** One sentence for each thing that is wrong. */
  readonly problems: readonly string[]
}
