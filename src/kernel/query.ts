import type { z } from 'zod'
import type { Actor } from './event.ts'
import type { AnyProjection } from './projection.ts'
import type { Refusal } from './refusal.ts'
import type { WithWrittenRows } from './written-row.ts'

/**
 * The surfaces of the platform (Document 1, "Surfaces"; Supplement §2). `account` is a signed-in user's own, in no
 * workspace; `portal` is that of a publisher's user; `sign-in` and `public` take no credential, `carrier` no other than a signature of the body, and `rtb` publishers' keys.
 */
export type Surface =
  | 'rest'
  | 'console'
  | 'portal'
  | 'account'
  | 'sign-in'
  | 'operator'
  | 'sandbox'
  | 'carrier'
  | 'public'
  | 'rtb'

/** Where a query or a command is served. */
export interface Mount {
  readonly surface: Surface
  /** Fastify spelling, with `:id` for a path id. */
  readonly path: string
  /** Scope that an API key needs; null for any valid key. Off the REST surface keys are taken only where a scope is named. */
  readonly scope?: string | null
  /** Whether a user must be an owner of the workspace: an admin is not enough. */
  readonly ownerOnly?: boolean
}

/** What a plan includes or not. */
export type Feature = 'callTracking' | 'apiAccess' | 'webhooks' | 'asOf'

/** The workspace that a request acts in. */
export interface Tenant {
  readonly workspaceId: string
  readonly timezone: string
  /** On the portal: the publisher whose user asks. Everything that is answered there is that publisher's. */
  readonly publisherId?: string
}

/** What a query runs with. */
export interface QueryContext<Params, Filter> {
  readonly params: Params
  readonly query: Filter
  readonly tenant: Tenant
  readonly surface: Mount['surface']
  /** ISO 8601, UTC, milliseconds. */
  readonly now: string
  /** The requester, when the result depends on it. */
  readonly actor?: Actor
  /** SHA-256 of the requester's session, in hex; null without a session. */
  readonly sessionHash?: string | null
}

/** One screen or resource, read over projections. `Ports` is what the composition root hands to queries. */
export interface Query<Ports, Params = unknown, Filter = unknown, Answer = unknown> {
  readonly name: string
  readonly summary: string
  readonly mounts: readonly Mount[]
  /** A path id that does not parse gets the same 404 as one that does not exist. */
  readonly params: z.ZodType<Params>
  readonly query: z.ZodType<Filter>
  readonly response: z.ZodType<Answer>
  /** Projections that it reads: read-your-writes waits for their positions. */
  readonly reads: readonly AnyProjection[]
  readonly rejects: readonly string[]
  /** Response headers beyond the common ones. */
  readonly headers: Readonly<Record<string, string>>
  /** The record whose configuration revision is the response's `ETag` (Supplement 1.17); null for none. */
  readonly record: ((params: Params, workspaceId: string) => string) | null
  /**
   * Whether the response may be cached: it depends on the projections that it reads, on its parameters, and on windows
   * that begin at quarters of an hour, and on nothing else.
   */
  readonly cacheable: boolean
  /** Whether it shows the request log or the uses of a key. They are written in batches: the pending ones are flushed first. */
  readonly flushesUsage: boolean
  readonly run: (ports: Ports, question: QueryContext<Params, Filter>) => Promise<WithWrittenRows<Answer> | Refusal>
}

/** Any query, for registries. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds queries of every shape.
export type AnyQuery<Ports> = Query<Ports, any, any, any>

/** Defines a query. */
export function defineQuery<Ports, Params, Filter, Answer, const Code extends string = never>(definition: {
  readonly name: string
  readonly summary: string
  readonly mounts: readonly Mount[]
  readonly params: z.ZodType<Params>
  readonly query: z.ZodType<Filter>
  readonly response: z.ZodType<Answer>
  readonly reads: readonly AnyProjection[]
  readonly rejects?: readonly Code[]
  readonly headers?: Readonly<Record<string, string>>
  readonly record?: (params: NoInfer<Params>, workspaceId: string) => string
  readonly cacheable?: boolean
  readonly flushesUsage?: boolean
  readonly run: (
    ports: Ports,
    question: QueryContext<NoInfer<Params>, NoInfer<Filter>>,
  ) => Promise<WithWrittenRows<NoInfer<Answer>> | Refusal<NoInfer<Code>>>
}): Query<Ports, Params, Filter, Answer> {
  return { rejects: [], headers: {}, record: null, cacheable: false, flushesUsage: false, ...definition }
}
