import { readConfig } from '../../../src/main/config.ts'
import { openOperationalStore } from '../../../src/main/stores.ts'
import { parkedIdOf, putParked } from '../../../src/runtime/reactions/parked-streams.ts'

/** Parks a stream of a reaction that does not run, beside the platform of an environment. Returns the id. */
export async function parkStream(env: Readonly<Record<string, string>>, workspaceId: string): Promise<string> {
  const ops = await openOperationalStore(readConfig(env).readStoreUrl)
  const place = { stream: `wallet-00-${workspaceId}`, revision: 3 }
  const id = parkedIdOf('nobody', place)
  const event = { ...place, workspaceId, type: 'WalletCredited', position: 3, at: new Date().toISOString() }
  await putParked(ops, { id, reaction: 'nobody', ...event, attempts: 6, problem: 'Error: no', waiting: 0 })
  await ops.close()
  return id
}
