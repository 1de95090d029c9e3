import { afterAll, beforeAll } from 'vitest'
import type { StreamWriter } from '../../src/runtime/stream-writer.ts'
import { freshEnvironment, type Server, type Setup, startServer } from './e2e-server.ts'
import { prepare } from './e2e-world.ts'

/**
 * Gives a group of tests a platform of its own over a set of stores: `world` prepares its workspaces through the
 * commands before the server listens, `begin` is told of both. `env` is added to the platform's environment.
 */
export function platform<World>(
  setup: Setup,
  world: (writer: StreamWriter) => Promise<World>,
  begin: (server: Server, the: World) => void | Promise<void>,
  env: Readonly<Record<string, string>> = {},
): void {
  let server: Server | undefined
  beforeAll(async () => {
    const environment = { ...freshEnvironment(setup), ...env }
    const the = await prepare(environment, world)
    server = await startServer(environment)
    await begin(server, the)
  })
  afterAll(() => server?.dispose())
}
