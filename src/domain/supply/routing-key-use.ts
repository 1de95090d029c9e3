import { z } from 'zod'
import { instant } from '../../kernel/wire.ts'

/** How often a routing key was used, and when last: a counter of the operational store, beside the events. */
export const routingKeyUsage = z.object({ useCount: z.int().min(0), lastUsedAt: instant.nullable() })
export type RoutingKeyUsage = Readonly<z.infer<typeof routingKeyUsage>>

/** The usage of a key that nobody has used. */
export const UNUSED_KEY: RoutingKeyUsage = { useCount: 0, lastUsedAt: null }

/** One use of a routing key, by a call or a ping that carried it. */
export interface RoutingKeyUse {
  readonly workspaceId: string
  readonly keyId: string
  /** When the call or ping arrived. */
  readonly at: string
}

/** Beginning of the names of a workspace's usage entries in the operational store. */
export function keyUsagePrefix(workspaceId: string): string {
  return `routing-key-usage:${workspaceId}:`
}

/** Name of the entry of the operational store with the usage of a routing key. */
export function keyUsageEntry({ workspaceId, keyId }: Pick<RoutingKeyUse, 'workspaceId' | 'keyId'>): string {
  return `${keyUsagePrefix(workspaceId)}${keyId}`
}

/** The usage of a key over two periods. A call may be dated before one that came earlier: the latest instant stays. */
export function addKeyUsage(one: RoutingKeyUsage, other: RoutingKeyUsage): RoutingKeyUsage {
  const [latest = null] = [one.lastUsedAt, other.lastUsedAt]
    .filter((at) => at !== null)
    .toSorted()
    .toReversed()
  return { useCount: one.useCount + other.useCount, lastUsedAt: latest }
}
