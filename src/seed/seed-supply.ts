import { assignNumber } from '../../commands/supply/assign-number.ts'
import { createPool } from '../../commands/supply/create-pool.ts'
import { provisionNumber } from '../../commands/supply/provision-number.ts'
import { reportNumberDelivery } from '../../commands/supply/report-number-delivery.ts'
import { switchCompat } from '../../commands/supply/switch-compat.ts'
import { firstPool } from '../api/sandbox-workspace.ts'
import { secretHash } from '../api/secret-hash.ts'
import { storedSecret } from '../api/secret-issuer.ts'
import type { WorkspaceState } from '../domain/configuration/workspace.ts'
import { ROUTING_KEY } from '../domain/shared/limits.ts'
import { numberEvents } from '../domain/supply/number.ts'
import { poolEvents } from '../domain/supply/pool.ts'
import { compatUrl } from '../domain/supply/routing-key.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import { dataOf } from '../kernel/event.ts'
import { compatTokenPlace } from '../ports/sealed-places.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { SeedStep } from './seed-world.ts'

/** Numbers of the sandbox's pool, in the order in which they are seeded. */
export const POOLED: readonly string[] = ['+13105550112', '+13105550113']

/** Derives a secret from its purpose; the same purpose always gives the same secret. */
export type SecretDerivation = (purpose: string) => string

/** What the secrets of the sandbox are derived from, and what seals them. */
interface SupplyContext {
  readonly workspaceId: string
  readonly derive: SecretDerivation
  readonly secrets: Secrets
}

/** The routing key of a sandbox lane that begins with a stem. */
const routingKeyOf = (derive: SecretDerivation, stem: string) => `${stem}${derive(`routing key ${stem}`)}`

/** The stored form of the routing key of a sandbox lane that begins with a stem. */
export function storedSandboxKey(derive: SecretDerivation, stem: string) {
  return storedSecret(routingKeyOf(derive, stem), stem.length + ROUTING_KEY.shown)
}

/** The sandbox's first lane and its key. */
function firstLane({ lanes, routingKeys }: WorkspaceState) {
  const [lane] = [...lanes.values()].toSorted((one, other) => (one.assignedAt < other.assignedAt ? -1 : 1))
  const key = lane?.keyId ? routingKeys.get(lane.keyId) : undefined
  return { lane, key }
}

/** Opens the single-step ping of a lane. */
export async function switchOnCompat(
  step: SeedStep,
  name: string,
  { campaignId, publisherId }: { readonly campaignId: string; readonly publisherId: string },
  {
    workspaceId,
    secrets,
    token: derived,
  }: { readonly workspaceId: string; readonly secrets: Secrets; readonly token: string },
): Promise<void> {
  const token = `ct_${derived}`
  const place = compatTokenPlace(workspaceId, campaignId, publisherId)
  const stored = { hash: secretHash(token), sealed: secrets.seal(token, place) }
  await step(name, switchCompat, { campaignId, publisherId, enabled: true, token: stored })
}

/** Builds the sandbox's access for publishers and web pages: a compat URL (single-step ping), and a pool of two numbers. */
export async function buildSupply(
  step: SeedStep,
  state: WorkspaceState,
  { workspaceId, derive, secrets, renewsAt }: SupplyContext & { readonly renewsAt: string },
): Promise<void> {
  const { lane } = firstLane(state)
  if (!lane) return
  const { campaignId, publisherId } = lane
  await switchOnCompat(step, 'compat', lane, { workspaceId, secrets, token: derive('compat token') })
  const fallbackNumberId = state.numbers.find((number) => number.campaignId === campaignId)?.id ?? null
  const publicKey = `pk_${Buffer.from(derive('pool key'), 'base64url').toString('hex').slice(0, 24)}`
  const settings = { name: 'Roofing site', publisherId, fallbackNumberId, params: [{ key: 'utm_', prefix: true }] }
  const created = await step('pool', createPool, { campaignId, publicKey, settings })
  const poolId = dataOf(poolEvents, created, 'PoolCreated')?.pool.id
  for (const e164 of POOLED) {
    const provisioned = await step(`pool ${e164}`, provisionNumber, {
      e164,
      type: 'local',
      label: 'Roofing site',
      renewsAt,
    })
    const numberId = numberIn(provisioned)
    await step(`pool ${e164} joins`, assignNumber, { numberId, poolId })
    await step(`pool ${e164} ready`, reportNumberDelivery, { numberId, error: null })
  }
}

const numberIn = (events: readonly RecordedEvent[]) => dataOf(numberEvents, events, 'NumberProvisioned')?.number.id

/**
 * The keys and the URL for pings and number leases in the sandbox; null for a key that was rotated or removed since, and for
 * one whose endpoints this platform does not have.
 */
export function sandboxSupply(
  state: WorkspaceState,
  {
    workspaceId,
    derive,
    secrets,
    baseUrl,
    hasRoutes,
  }: SupplyContext & {
    readonly baseUrl: string
    /** Whether the platform has routes below a path. */
    readonly hasRoutes: (path: string) => boolean
  },
) {
  const { key } = firstLane(state)
  const routingKey = key && routingKeyOf(derive, key.prefix.slice(0, -ROUTING_KEY.shown))
  const isCurrent = routingKey && key.secrets.some(({ hash }) => hash === secretHash(routingKey))
  const place = key && compatTokenPlace(workspaceId, key.campaignId, key.publisherId)
  const pool = firstPool(state)
  return {
    routingKey: isCurrent ? routingKey : null,
    compatUrl:
      key?.compat && place && hasRoutes('/api/rtb/compat/')
        ? compatUrl(baseUrl, secrets.unseal(key.compat.sealed, place))
        : null,
    poolKey: pool && hasRoutes('/api/public/dni/') ? pool.publicKey : null,
  }
}
