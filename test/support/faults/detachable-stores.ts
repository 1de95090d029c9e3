import { renameSync } from 'node:fs'
import { openFaultProxy } from './fault-proxy.ts'
import type { Environment } from './platform-process.ts'

/** A store that a test takes away from the platform and gives back. */
export interface DetachableStore {
  /** The connection string that the platform is to use. */
  readonly url: string
  readonly detach: () => void
  readonly attach: () => void
  readonly close: () => Promise<void>
}

const SQLITE = 'sqlite:'

/** A file leaves by moving elsewhere. */
function detachableFile(url: string): DetachableStore {
  const file = url.slice(SQLITE.length)
  return {
    url,
    detach: () => renameSync(file, `${file}.elsewhere`),
    attach: () => renameSync(`${file}.elsewhere`, file),
    close: async () => undefined,
  }
}

/** A server leaves by the way to it being cut. */
async function detachableServer(url: string): Promise<DetachableStore> {
  const way = await openFaultProxy(url)
  return { url: way.url, detach: way.cut, attach: way.mend, close: way.close }
}

/** The two stores of an environment, each of which can leave. */
export async function openDetachableStores(
  env: Environment,
): Promise<{ readonly log: DetachableStore; readonly views: DetachableStore }> {
  const [log, views] = await Promise.all(
    [env.EVENT_LOG_URL ?? '', env.READ_STORE_URL ?? ''].map((url) =>
      url.startsWith(SQLITE) ? detachableFile(url) : detachableServer(url),
    ),
  )
  if (!log || !views) throw new Error('The environment names no stores.')
  return { log, views }
}
