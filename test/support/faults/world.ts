import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type CampaignLine, createTenantWorkspace, type Tenant } from '../e2e/world.ts'

/** A workspace whose calls meet every kind of cap, failover and a buffer. */
export interface FaultWorld {
  readonly tenant: Tenant
  readonly lines: readonly CampaignLine[]
  /** Phone numbers or addresses of targets that a script may name. */
  readonly targets: readonly string[]
}

const LARGE_WALLET_CENTS = 5_000_000

/** Builds the workspace through commands. */
export async function buildFaultWorld(writer: StreamWriter): Promise<FaultWorld> {
  const tenant = await createTenantWorkspace(writer, { name: 'Faults', fundCents: LARGE_WALLET_CENTS })
  const acme = await tenant.buyer({ name: 'Acme' })
  const bright = await tenant.buyer({ name: 'Bright', concurrencyCap: 3 })
  const single = await tenant.target(acme, { name: 'Single line', concurrencyCap: 1, revenueCents: 900 })
  const pair = await tenant.target(bright, {
    name: 'Two lines',
    concurrencyCap: 2,
    dailyCap: 60,
    capCountsOn: 'connected',
  })
  const scarce = await tenant.target(bright, { name: 'Scarce', dailyCap: 25, capCountsOn: 'claimed' })
  const sold = await tenant.target(acme, {
    name: 'Sold by conversion',
    dailyCap: 40,
    capCountsOn: 'converted',
    durationThresholdSeconds: 20,
  })
  const open = await tenant.target(acme, { name: 'Open', durationThresholdSeconds: 10 })
  const publisherId = await tenant.publisher({ name: 'North' })
  const lane = { publisherId, terms: { payoutMode: 'fixed', payoutCents: 300 } }
  const lines = [
    await tenant.line({ name: 'Waterfall' }, [single, scarce, pair, open], lane),
    await tenant.line({ name: 'Buffered', bufferSeconds: 2, routingMode: 'weighted' }, [pair, sold, open, single]),
    await tenant.line({ name: 'Capped', dailyCap: 30, concurrencyCap: 4 }, [single, open]),
  ]
  return {
    tenant,
    lines,
    targets: [single, pair, scarce, sold, open],
  }
}
