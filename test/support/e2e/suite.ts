import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as vitest from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { LEFT_RUNNING } from '../servers.ts'
import { type ApiClient, createApiClient } from './api-client.ts'
import { embeddedStores, freshEnvironment, type Server, type StoreSetup, startServer, storeSetups } from './server.ts'
import { createTenantClient, type TenantClient } from './tenant-client.ts'
import { createWorldIn, openWorldMaker, type Tenant, type WorldMaker } from './world.ts'

/** The operator's token on a shared platform. */
export const OPERATOR_TOKEN = 'operator-token-of-the-shared-platform'

type Environment = Readonly<Record<string, string>>

interface SharedPlatform {
  readonly server: Server
  readonly createWorld: WorldMaker
}

const sharedPlatforms = new Map<string, Promise<SharedPlatform>>()

async function startSharedPlatform(setup: StoreSetup): Promise<SharedPlatform> {
  const server = await startServer({ ...freshEnvironment(setup), OPERATOR_TOKEN })
  const left = process.env[LEFT_RUNNING]
  if (left) writeFileSync(join(left, String(server.pid)), dirname(server.dataDir))
  return { server, createWorld: await openWorldMaker(server.env) }
}

/** The platform that the suites of a worker share: each makes workspaces of its own. Started once, ended with the run. */
function sharedPlatform(setup: StoreSetup): Promise<SharedPlatform> {
  const known = sharedPlatforms.get(setup.name)
  if (known) return known
  const starting = startSharedPlatform(setup)
  sharedPlatforms.set(setup.name, starting)
  return starting
}

/** The value that `current` returns at each access, for names that are destructured before there is one. */
export function late<Value extends object>(current: () => Value): Value {
  return new Proxy(Object.create(null), {
    get: (_, key) => Reflect.get(current(), key),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_, key) => {
      const found = Reflect.getOwnPropertyDescriptor(current(), key)
      return found && { ...found, configurable: true }
    },
  })
}

/** `api` of vitest, whose calls `declare` may put off; `each` included. */
function deferred<Api extends object>(api: Api, declare: (declaration: () => unknown) => void): Api {
  return new Proxy(api, {
    apply: (_, self, args) => declare(() => Reflect.apply(Object(api), self, args)),
    get: (_, key) => {
      const member = Reflect.get(api, key)
      if (key !== 'each') return member
      return (...cases: readonly unknown[]) =>
        (...args: readonly unknown[]) =>
          declare(() => Reflect.apply(Reflect.apply(Object(member), api, cases), undefined, args))
    },
  })
}

/** The last requests that a platform failed to answer, as it logged them: the route, and what was thrown. */
function failuresIn(stdout: string): readonly string[] {
  const lines = stdout.split('\n').filter((line) => line.includes('"request failed"'))
  return lines.slice(-3).map((line) => {
    const { route, err } = JSON.parse(line)
    return `${route}: ${err?.message}`
  })
}

/** Options of a suite. */
export interface SuiteOptions {
  /** `embedded`: the suite does not depend on a store (see `test/e2e/README.md`) and runs over the embedded stores only. */
  readonly stores?: 'every' | 'embedded'
  /** Environment of a platform of the suite's own. Without it, the suite uses the shared one and may neither stop nor restart it. */
  readonly env?: Environment | ((setup: StoreSetup) => Environment)
}

/** What a test file uses: vitest's functions, run over each set of stores, and the world that they meet there. */
export interface Suite<World> {
  readonly it: typeof vitest.test
  readonly describe: typeof vitest.describe
  /** Runs once per set of stores, after the world is made. */
  readonly beforeAll: typeof vitest.beforeAll
  readonly beforeEach: typeof vitest.beforeEach
  readonly afterAll: typeof vitest.afterAll
  /** The world over the stores at hand; its fields are there once tests run. */
  readonly the: World
  readonly server: Server
  /** The stores at hand; also known while a `describe` declares its tests. */
  readonly setup: StoreSetup
  /** Client of the world's main tenant. */
  readonly main: TenantClient
  readonly tenant: (pick: (the: World) => Tenant) => TenantClient
  readonly client: (token: string | null | ((the: World) => string | null)) => ApiClient
}

/**
 * Declares a suite of black-box tests: a platform over each set of stores that is there, with a world made by `world` through
 * the commands. Vitest runs the declarations of a file first and its groups afterwards, so tests declared at the top of the
 * file are collected here and run once per set of stores.
 */
export function suite<World extends { readonly main: Tenant }>(
  name: string,
  world: (writer: StreamWriter) => Promise<World>,
  { stores = 'every', env }: SuiteOptions = {},
): Suite<World> {
  const declarations: (() => unknown)[] = []
  let collecting = false
  const declare = (declaration: () => unknown) => {
    if (collecting) declaration()
    else declarations.push(declaration)
  }
  let current: { readonly server: Server; readonly the: World } | null = null
  let setupAtHand = embeddedStores
  const present = () => {
    if (current === null) throw new Error(`${name}: the world is there only while tests run`)
    return current
  }

  vitest.describe.each(stores === 'embedded' ? [embeddedStores] : storeSetups)(`${name} over $name`, (setup) => {
    let own: Server | undefined
    setupAtHand = setup
    vitest.beforeAll(async () => {
      setupAtHand = setup
      if (env === undefined) {
        const { server, createWorld } = await sharedPlatform(setup)
        current = { server, the: await createWorld(world) }
        return
      }
      const environment = { ...freshEnvironment(setup), ...(typeof env === 'function' ? env(setup) : env) }
      const the = await createWorldIn(environment, world)
      own = await startServer(environment)
      current = { server: own, the }
    })
    vitest.afterAll(() => own?.dispose())
    // What the platform answered with 5xx says more of a failed test than its assertion: `.ci/run` prints it beside that.
    vitest.beforeEach(({ onTestFailed, task }) =>
      onTestFailed(() => {
        Object.assign(task.meta, { platform: current && failuresIn(current.server.stdout()) })
      }),
    )
    collecting = true
    for (const declaration of declarations) declaration()
  })

  const server = late(() => present().server)
  const tenant = (pick: (the: World) => Tenant) => createTenantClient(server, () => pick(present().the))
  return {
    it: deferred(vitest.test, declare),
    describe: deferred(vitest.describe, declare),
    beforeAll: deferred(vitest.beforeAll, declare),
    beforeEach: deferred(vitest.beforeEach, declare),
    afterAll: deferred(vitest.afterAll, declare),
    the: late(() => present().the),
    setup: late(() => setupAtHand),
    server,
    main: tenant(({ main }) => main),
    tenant,
    client: (token) =>
      createApiClient(() => server.baseUrl, typeof token === 'function' ? () => token(present().the) : token),
  }
}
