import { join } from 'node:path'
import { pino } from 'pino'
import { openLogger } from '../../../src/adapters/http/logger.ts'
import { type App, openApp } from '../../../src/main/app.ts'
import { readConfig } from '../../../src/main/config.ts'
import { projections } from '../../../src/main/registry.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { waitUntil } from './server.ts'

/** A platform in the test's process, so that a test may read its declarations and its log. */
export interface InProcessPlatform {
  readonly app: App
  readonly baseUrl: string
  /** Makes a world through the commands, and waits until it is projected. */
  readonly createWorld: <World>(build: (writer: StreamWriter) => Promise<World>) => Promise<World>
  readonly close: () => Promise<void>
}

/** Waits until every projection has processed the whole log. */
async function untilProjected({ awaitProjections }: App): Promise<void> {
  const types = projections.flatMap(({ events }) => Object.keys(events))
  await waitUntil(
    'What was prepared is read',
    async () => Object.keys((await awaitProjections(types)).headers).length === 0,
  )
}

/**
 * Waits until a platform answers: importing it holds the event loop up, and on a busy machine it answers 503 for as long as that is
 * what its last sample shows.
 */
async function untilAnswering(baseUrl: string): Promise<void> {
  await waitUntil('The platform answers', async () => (await fetch(`${baseUrl}/healthz`)).status === 200)
}

/** Opens a platform over the stores that an environment names; it logs to `platform.log` in its data directory. */
export async function openInProcessPlatform(env: Readonly<Record<string, string>>): Promise<InProcessPlatform> {
  const config = readConfig(env)
  const stream = pino.destination({ dest: join(config.dataDir, 'platform.log'), sync: true })
  const app = await openApp(config, openLogger({ level: 'trace', stream }))
  const baseUrl = await app.listen()
  await untilAnswering(baseUrl)
  return {
    app,
    baseUrl,
    async createWorld(build) {
      const world = await build(app.writer)
      await untilProjected(app)
      await untilAnswering(baseUrl)
      return world
    },
    close: () => app.close(),
  }
}
