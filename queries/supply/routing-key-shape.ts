import { z } from 'zod'
import type { routingKeys } from '../../projections/supply/routing-keys.ts'
import { compatUrl, keyState, keyStateAt, routingKey, routingKeyGraceEnd } from '../../src/domain/supply/routing-key.ts'
import {
  keyUsageEntry,
  keyUsagePrefix,
  type RoutingKeyUsage,
  routingKeyUsage,
  UNUSED_KEY,
} from '../../src/domain/supply/routing-key-use.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { instant } from '../../src/kernel/wire.ts'
import type { Entry } from '../../src/ports/operational-store.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { compatTokenPlace } from '../../src/ports/sealed-places.ts'
import type { DocOf } from '../shared/documents.ts'

type KeyDoc = WithId<DocOf<typeof routingKeys>>

/** The single-step ping in a response: whether it is on, and its full URL; null when it is off. */
export const compatShape = z.object({ enabled: z.boolean(), url: z.string().nullable() }).meta({ id: 'Compat' })

/** The single-step ping of a key. */
export function compatShapeOf(
  { secrets, publicUrl }: QueryPorts,
  key: Pick<KeyDoc, 'compat' | 'workspaceId' | 'campaignId' | 'publisherId'> | undefined,
) {
  const place = key && compatTokenPlace(key.workspaceId, key.campaignId, key.publisherId)
  const token = key?.compat && place ? secrets.unseal(key.compat.sealed, place) : null
  return { enabled: token !== null, url: token === null ? null : compatUrl(publicUrl, token) }
}

/** A routing key in a lane's response: never the key, only its first characters. */
export const laneKeyShape = routingKey
  .pick({ id: true, prefix: true, protocol: true, environment: true, requireSignature: true, issuedAt: true })
  .extend({ state: keyState, ...routingKeyUsage.shape })
  .meta({ id: 'LaneKey' })

/** Entries of one read. */
const USAGE_PAGE = 1_000

/** Every usage entry of a workspace. */
async function usageEntries({ ops }: Pick<QueryPorts, 'ops'>, workspaceId: string, now: number) {
  const entries: Entry[] = []
  for (let page: readonly Entry[] | null = null; page === null || page.length === USAGE_PAGE; entries.push(...page)) {
    const after = entries.at(-1)?.key
    page = await ops.list(keyUsagePrefix(workspaceId), now, { limit: USAGE_PAGE, ...(after && { after }) })
  }
  return entries
}

/** The usage of routing keys of a workspace, by id. Several are read by the workspace's range of entries. */
export async function keyUsages(
  ports: Pick<QueryPorts, 'ops'>,
  workspaceId: string,
  keyIds: readonly string[],
  now: string,
): Promise<(keyId: string) => RoutingKeyUsage> {
  const at = Date.parse(now)
  const entryOf = (keyId: string) => keyUsageEntry({ workspaceId, keyId })
  const entries =
    keyIds.length > 1
      ? await usageEntries(ports, workspaceId, at)
      : await Promise.all(keyIds.map((keyId) => ports.ops.get(entryOf(keyId), at)))
  const usages = new Map(entries.flatMap((entry) => (entry ? [[entry.key, routingKeyUsage.parse(entry.value)]] : [])))
  return (keyId) => usages.get(entryOf(keyId)) ?? UNUSED_KEY
}

/** A routing key in its lane's response. */
export function laneKeyShapeOf(key: KeyDoc, usage: RoutingKeyUsage, now: string): z.infer<typeof laneKeyShape> {
  const { id, prefix, protocol, environment, requireSignature, issuedAt } = key
  const { lastUsedAt, useCount } = usage
  const state = keyStateAt(key, now)
  return { id, prefix, state, lastUsedAt, useCount, protocol, environment, requireSignature, issuedAt }
}

/** A routing key in its own response: with settings, lane and the end of a running grace. */
export const keyShape = routingKey
  .omit({ secrets: true, compat: true, signing: true })
  .extend({
    ...laneKeyShape.shape,
    hasSigningSecret: z.boolean(),
    graceEndsAt: instant.nullable(),
    compat: compatShape,
  })
  .meta({ id: 'RoutingKey' })

/** A routing key in full. */
export async function keyShapeOf(ports: QueryPorts, key: KeyDoc, now: string): Promise<z.infer<typeof keyShape>> {
  const { workspaceId, secrets: _secrets, signing, ...shown } = key
  const usageOf = await keyUsages(ports, workspaceId, [key.id], now)
  return {
    ...shown,
    ...laneKeyShapeOf(key, usageOf(key.id), now),
    hasSigningSecret: signing !== null,
    graceEndsAt: routingKeyGraceEnd(key, now),
    compat: compatShapeOf(ports, key),
  }
}
