import { z } from 'zod'
import type { routingKeys } from '../../projections/supply/routing-keys.ts'
import { compatUrl, keyState, keyStateAt, routingKey, routingKeyGraceEnd } from '../../src/domain/supply/routing-key.ts'
import type { WithId } from '../../src/kernel/document.ts'
import { instant } from '../../src/kernel/wire.ts'
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
  .extend({ state: keyState, lastUsedAt: instant.nullable(), useCount: z.int() })
  .meta({ id: 'LaneKey' })

/** A routing key in its lane's response. Pings are not built yet, so no key has been used. */
export function laneKeyShapeOf(key: KeyDoc, now: string): z.infer<typeof laneKeyShape> {
  const { id, prefix, protocol, environment, requireSignature, issuedAt } = key
  const usage = { state: keyStateAt(key, now), lastUsedAt: null, useCount: 0 }
  return { id, prefix, ...usage, protocol, environment, requireSignature, issuedAt }
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
export function keyShapeOf(ports: QueryPorts, key: KeyDoc, now: string): z.infer<typeof keyShape> {
  const { workspaceId: _workspace, secrets: _secrets, signing, ...shown } = key
  return {
    ...shown,
    ...laneKeyShapeOf(key, now),
    hasSigningSecret: signing !== null,
    graceEndsAt: routingKeyGraceEnd(key, now),
    compat: compatShapeOf(ports, key),
  }
}
