import { randomBytes } from 'node:crypto'
import { assignNumber } from '../../../commands/supply/assign-number.ts'
import { createPool } from '../../../commands/supply/create-pool.ts'
import { poolEvents } from '../../../src/domain/supply/pool.ts'
import { dataOf } from '../../../src/kernel/event.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { openPublisherLane, type PublisherLane } from '../e2e/publisher-lane.ts'
import { createTenantWorkspace, type Tenant } from '../e2e/world.ts'

/** A workspace with everything that traffic of each kind needs. */
export interface TrafficWorld {
  readonly main: Tenant
  /** A number that is called. */
  readonly e164: string
  /** A lane whose pings are won at a fixed price. */
  readonly lane: PublisherLane
  /** Public key of a pool with numbers. */
  readonly pool: string
}

const NUMBERS = 5
const LARGE_WALLET_CENTS = 5_000_000

/** Builds the workspace through commands. */
export async function buildTrafficWorld(writer: StreamWriter): Promise<TrafficWorld> {
  const main = await createTenantWorkspace(writer, { name: 'Traffic', fundCents: LARGE_WALLET_CENTS })
  const target = await main.target(await main.buyer({ name: 'Acme' }))
  const { e164 } = await main.line({ name: 'Called' }, [target])
  const lane = await openPublisherLane(main, 'Pinged', { plan: [target] })
  const site = await main.line({ name: 'Site' }, [target])
  const publicKey = `pk_${randomBytes(12).toString('hex')}`
  const { campaignId } = site
  const made = await main.act(createPool, { campaignId, publicKey, settings: { name: 'Site' } })
  const poolId = dataOf(poolEvents, made, 'PoolCreated')?.pool.id
  for (let n = 0; n < NUMBERS; n += 1) {
    const { numberId } = await main.number()
    await main.act(assignNumber, { numberId, campaignId, poolId })
  }
  return { main, e164, lane, pool: publicKey }
}
