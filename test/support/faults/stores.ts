import { renameSync } from 'node:fs'
import { severable } from './fault-proxy.ts'
import type { Environment } from './platform.ts'

/** A store that a test takes away from the platform and gives back. */
export interface Leaving {
  /** The connection string that the platform is to use. */
  readonly url: string
  readonly leave: () => void
  readonly comeBack: () => void
  readonly close: () => Promise<void>
}

const SQLITE = 'sqlite:'

/** A file leaves by moving elsewhere. */
function leavingFile(url: string): Leaving {
  const file = url.slice(SQLITE.length)
  return {
    url,
    leave: () => renameSync(file, `${file}.elsewhere`),
    comeBack: () => renameSync(`${file}.elsewhere`, file),
    close: async () => undefined,
  }
}

/** A server leaves by the way to it being cut. */
async function leavingServer(url: string): Promise<Leaving> {
  const way = await severable(url)
  return { url: way.url, leave: way.cut, comeBack: way.mend, close: way.close }
}

/** The two stores of an environment, each of which can leave. */
export async function leavingStores(env: Environment): Promise<{ readonly log: Leaving; readonly views: Leaving }> {
  const [log, views] = await Promise.all(
    [env.EVENT_LOG_URL ?? '', env.READ_STORE_URL ?? ''].map((url) =>
      url.startsWith(SQLITE) ? leavingFile(url) : leavingServer(url),
    ),
  )
  if (!log || !views) throw new Error('The environment names no stores.')
  return { log, views }
}
