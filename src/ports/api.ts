import type { z } from 'zod'
import type { Actor } from '../kernel/event.ts'
import type { Feature, Mount, Tenant } from '../kernel/query.ts'
import type { Refusal } from '../kernel/refusal.ts'

/** The client of a valid credential, whatever its permissions. */
export interface ApiClient {
  readonly actor: Actor
  /** Identifies the credential in limits and idempotency; never the secret. */
  readonly credentialId: string
  /** Requests per minute that the credential allows; null for no limit. */
  readonly ratePerMinute: number | null
}

/** The requester, after all checks that precede parsing of the request (Supplement 1.13). */
export interface Principal extends ApiClient {
  /** Null on public routes only. */
  readonly tenant: Tenant | null
  /** SHA-256 of the session's token, in hex; absent when the credential is not a session. */
  readonly sessionHash?: string
}

/** A refusal by one of these checks, with the client if the credential is valid. */
export interface AuthRejection extends Refusal {
  readonly client?: ApiClient
}

const anonymousSurfaces = ['public', 'sign-in', 'carrier', 'rtb'] as const

/** Whether a surface takes no credential of ours: its requesters are identified by address. */
export function isAnonymous(surface: Mount['surface']): surface is (typeof anonymousSurfaces)[number] {
  return anonymousSurfaces.some((one) => one === surface)
}

/** What a route requires of its requester. */
export interface AccessRequirement {
  readonly surface: Mount['surface']
  readonly scope: string | null
  /** Whether the route writes: a lapsed subscription refuses writes on the console. */
  readonly write: boolean
  /** Whether a write is allowed despite a lapsed subscription. */
  readonly allowLapsed?: boolean
  /** Whether a user must be an owner of the workspace. */
  readonly ownerOnly?: boolean
  /** A feature that the workspace's plan must have. */
  readonly feature?: Feature
}

/**
 * Checks a credential against a route's requirement. Resolves to the principal, or to the first refusal in the documented
 * order.
 * @throws StoreUnavailable
 */
export type Authenticator = (
  requirement: AccessRequirement,
  request: {
    readonly bearer: string | null
    /** The workspace that the request names, on the console. */
    readonly agencyId: string | null
    /** The publisher that the request names, on the portal. */
    readonly publisherId: string | null
    readonly ip: string
  },
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
  /** Entity tags, one of which the record must have (`If-Match`); null for any. */
  readonly ifMatch: readonly string[] | null
  readonly ip: string
  /** Log position that the response must reflect (`svc-min-position`); null for none. */
  readonly minPosition: number | null
  /** The requested part of the response (`Range` header as sent); null for the whole. */
  readonly range: string | null
  readonly connection: Connection
}

/** The part of a request that is known before its body is read. */
export type PathCheckRequest<Params = unknown> = Pick<ApiRequest<Params>, 'params' | 'principal' | 'idempotencyKey'>

/** The connection of a request, for streamed responses. */
export interface Connection {
  /** Aborts when the client has disconnected. */
  readonly closeSignal: () => AbortSignal
  /** Drops the connection of a client that does not read. */
  readonly drop: () => void
}

/** A parsed value, or its problems by field, in plain words. */
export type CheckedValue<Value = unknown> =
  | { readonly value: Value }
  | { readonly problems: Readonly<Record<string, string>> }

/** A body as received, with the request headers in lower case. */
export interface RawBody {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly bytes: Uint8Array
  /** Checks what was read of the bytes by the route's schema; a route without one takes anything. */
  readonly check: (value: unknown) => CheckedValue
}

/** A streamed body. An error drops the connection, so that no client mistakes a part for the whole. */
export type ByteStream = AsyncIterable<Uint8Array>

/** A response: JSON bytes ready to send, a value to be serialized as JSON, or a stream with its own `content-type`. */
export interface ApiResponse {
  readonly status: number
  readonly body: Uint8Array | Readonly<Record<string, unknown>> | ByteStream | null
  readonly headers?: Readonly<Record<string, string>>
  /** Log position that the response reflects (`svc-position`). */
  readonly position: number | null
  /** What failed after the request had taken effect; it is logged. */
  readonly fault?: unknown
}

/** A refusal, optionally with headers, and with a log position where a valid credential is refused by the route itself. */
export interface ApiRefusal extends Refusal {
  readonly headers?: Readonly<Record<string, string>>
  readonly position?: number
}

/** A request whose body was refused before it was read. */
export interface UnreadableRequest {
  readonly params: unknown
  readonly headers: RawBody['headers']
  readonly requestId: string
  readonly ip: string
  /** Status of the answer. */
  readonly status: number
}

/** What a direct route is, beside its answers. */
export interface DirectRoute {
  /** Called before anything of a request but its source is looked at; a response ends it. */
  readonly onArrival?: (request: Pick<ApiRequest, 'ip'>) => Promise<ApiResponse | null>
  /** A text that it answers with, the same to everybody, compressed and with an entity tag. */
  readonly text?: () => string
  /** `Cache-Control` of the text. */
  readonly cacheControl?: string
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
  /** A feature that the workspace's plan must have. */
  readonly feature?: Feature
  /** Whether the body is passed on unparsed, as a `RawBody`. */
  readonly raw?: true
  /** Makes it a direct route: it takes no credential, parameters or headers, so requests pass none of their checks. */
  readonly direct?: DirectRoute
  /** Whether the OpenAPI document leaves it out: it stands for the server of another, not for an operation of the API. */
  readonly undocumented?: true
  /** Stable name, the OpenAPI operation id. */
  readonly name: string
  readonly summary: string
  readonly params: z.ZodType
  readonly query: z.ZodType
  /** Null for a route without a body. */
  readonly body: z.ZodType | null
  /** Objects in the body whose keys are the client's own names, so that `__proto__` is one too. */
  readonly ownKeyFields?: readonly string[]
  /** Fields of the record that a body may not contain: `field-not-writable`, checked before the rest of the body. */
  readonly readOnlyFields?: readonly string[]
  /** Successful responses by status, for OpenAPI and for tests. */
  readonly responses: Readonly<Record<number, z.ZodType>>
  /** Additional headers of successful responses, in lower case. */
  readonly responseHeaders?: readonly string[]
  /** Media type of successful responses; JSON by default. */
  readonly contentType?: string
  /** Whether the length of a streamed response is known beforehand, so that HEAD does not produce it. */
  readonly hasContentLength?: boolean
  readonly rejects: readonly string[]
  /** Name of the path parameter whose record is not in the workspace; null when all exist. Called before the body is read. */
  notFoundParam?(request: PathCheckRequest): Promise<string | null>
  /** Called with a request whose body was refused before it was parsed; the response does not wait for it. */
  onUnreadable?(request: UnreadableRequest): Promise<void>
  run(request: ApiRequest): Promise<ApiResponse | ApiRefusal>
}

/** Whether a body is streamed. */
export function isStream(body: ApiResponse['body']): body is ByteStream {
  return body !== null && Symbol.asyncIterator in body
}

/** The report of `/readyz`. */
export interface Readiness {
  readonly ready: boolean
  /** One sentence per problem. */
  readonly problems: readonly string[]
  /** One sentence per fault that keeps the process from nothing yet. */
  readonly warnings: readonly string[]
}
