import { renameSync } from 'node:fs'
import { openFaultProxy } from './fault-proxy.ts'
import type { Environment } from './platform-process.ts'

/** A store that a test can take away from the platform and give back. */
export interface DetachableStore {
  /** The connection string for the platform. */
  readonly url: string
  readonly detach: () => void
  readonly attach: () => void
  readonly close: () => Promise<void>
}

const SQLITE = 'sqlite:'

/** A database file is detached by renaming it. */
function detachableFile(url: string): DetachableStore {
  const file = url.slice(SQLITE.length)
  return {
    url,
    detach: () => renameSync(file, `${file}.elsewhere`),
    attach: () => renameSync(`${file}.elsewhere`, file),
    close: async () => undefined,
  }
}

/** A server is detached by cutting the connection through a proxy. */
async function detachableServer(url: string): Promise<DetachableStore> {
  const way = await openFaultProxy(url)
  return { url: way.url, detach: way.cut, attach: way.restore, close: way.close }
}

/** Opens the event log, the read store and the operational store, which is beside it or in it, as detachable stores. */
export async function openDetachableStores(
  env: Environment,
): Promise<{ readonly log: DetachableStore; readonly views: DetachableStore; readonly ops: DetachableStore }> {
  const [log, views] = await Promise.all(
    [env.EVENT_LOG_URL ?? '', env.READ_STORE_URL ?? ''].map((url) =>
      url.startsWith(SQLITE) ? detachableFile(url) : detachableServer(url),
    ),
  )
  if (!log || !views) throw new Error('The environment names no stores.')
  const ops = views.url.startsWith(SQLITE) ? detachableFile(views.url.replace(/\.db$/, '.ops.db')) : views
  return { log, views, ops }
}
