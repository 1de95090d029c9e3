import { join } from 'node:path'
import { pino } from 'pino'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { type App, openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'

/** A platform in this very process, so that a test may look into its declarations and its log. */
export interface OpenPlatform {
  readonly app: App
  readonly baseUrl: string
  readonly close: () => Promise<void>
}

/** Opens a platform over the stores that an environment names; what it logs goes to `platform.log` in its data directory. */
export async function openPlatform(env: Readonly<Record<string, string>>): Promise<OpenPlatform> {
  const config = readConfig(env)
  const stream = pino.destination({ dest: join(config.dataDir, 'platform.log'), sync: true })
  const app = await openApp(config, openLogger({ level: 'trace', stream }))
  return { app, baseUrl: await app.listen(), close: () => app.close() }
}
