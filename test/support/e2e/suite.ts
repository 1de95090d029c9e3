import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { LEFT_RUNNING } from '../servers.ts'
import { freshEnvironment, type Server, type StoreSetup, startServer } from './server.ts'
import { createWorldBeside, createWorldIn } from './world.ts'

/** What the staff of a shared platform present. */
export const OPERATOR_TOKEN = 'operator-of-these-tests'

const sharedPlatforms = new Map<string, Promise<Server>>()

/** The platform that suites share, for each of them makes workspaces of its own: started once, ended with the run. */
function sharedPlatform(setup: StoreSetup): Promise<Server> {
  const known = sharedPlatforms.get(setup.name)
  if (known) return known
  const starting = startServer({ ...freshEnvironment(setup), OPERATOR_TOKEN }).then((server) => {
    const left = process.env[LEFT_RUNNING]
    if (left) writeFileSync(join(left, String(server.pid)), dirname(server.dataDir))
    return server
  })
  sharedPlatforms.set(setup.name, starting)
  return starting
}

/**
 * Gives a group of tests a platform over a set of stores: `world` prepares its workspaces through the commands, `begin`
 * is told of both. A group that ends its platform, or needs an environment of its own, names that: it gets one alone.
 */
export function platform<World>(
  setup: StoreSetup,
  world: (writer: StreamWriter) => Promise<World>,
  begin: (server: Server, the: World) => void | Promise<void>,
  alone: Readonly<Record<string, string>> | null = null,
): void {
  let own: Server | undefined
  beforeAll(async () => {
    if (alone === null) {
      const server = await sharedPlatform(setup)
      await begin(server, await createWorldBeside(server.env, world))
      return
    }
    const environment = { ...freshEnvironment(setup), ...alone }
    const the = await createWorldIn(environment, world)
    own = await startServer(environment)
    await begin(own, the)
  })
  afterAll(() => own?.dispose())
}
