import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Survey, surveyBoundaries } from '../../scripts/boundaries.ts'

type Tree = Readonly<Record<string, string>>

/** Small files for every room, so that each import below has something to point at. */
const setUp: Tree = {
  'src/kernel/event.ts': "import { z } from 'zod'\nexport const event = z.object({})\n",
  'src/domain/shared/limits.ts': 'export const limit = 1\n',
  'src/domain/supply/lane.ts': "import { event } from '../../kernel/event.ts'\nexport const lane = event\n",
  'src/domain/campaigns/route.ts': 'export const route = 1\n',
  'src/domain/configuration/workspace.ts': "import { lane } from '../supply/lane.ts'\nexport const workspace = lane\n",
  'src/domain/routing/gates.ts': "import { lane } from '../supply/lane.ts'\nexport const gates = lane\n",
  'src/domain/calls/call.ts': "import { gates } from '../routing/gates.ts'\nexport const call = gates\n",
  'src/ports/clock.ts': 'export interface Clock { now(): number }\n',
  'src/runtime/writer.ts': "import type { Clock } from '../ports/clock.ts'\nexport type Writer = Clock\n",
  'src/adapters/http/server.ts': "import { limit } from '../../domain/shared/limits.ts'\nexport const server = limit\n",
  'src/adapters/sqlite/database.ts': 'export const database = 1\n',
  'src/reactions/settlement.ts': 'export const settlement = 1\n',
  'src/api/throttle.ts': "import type { Writer } from '../runtime/writer.ts'\nexport type Throttle = Writer\n",
  'src/explain/explain.ts': 'export const explain = 1\n',
  'src/seed/seed.ts': "import type { Throttle } from '../api/throttle.ts'\nexport type Seed = Throttle\n",
  'src/main/compose.ts': "import { server } from '../adapters/http/server.ts'\nexport const compose = server\n",
  'commands/supply/pause-lane.ts':
    "import { workspace } from '../../src/domain/configuration/workspace.ts'\nexport const pauseLane = workspace\n",
  'projections/supply/lanes.ts': 'export const lanes = 1\n',
  'projections/demand/targets.ts':
    "import { route } from '../../src/domain/campaigns/route.ts'\nexport const targets = route\n",
  'projections/calls/call-log.ts': 'export const callLog = 1\n',
  'queries/shared/listing.ts': 'export const listing = 1\n',
  'queries/calls/today-figures.ts':
    "import { callLog } from '../../projections/calls/call-log.ts'\nexport const today = callLog\n",
  'queries/calls/list-calls.ts': 'export const listCalls = 1\n',
  'queries/supply/list-lanes.ts':
    "import { callLog } from '../../projections/calls/call-log.ts'\nimport { today } from '../calls/today-figures.ts'\nimport { listing } from '../shared/listing.ts'\nexport const listLanes = [callLog, today, listing]\n",
  'scripts/start.ts': "import { compose } from '../src/main/compose.ts'\nexport const start = compose\n",
  'test/lane.test.ts':
    "import { database } from '../src/adapters/sqlite/database.ts'\nexport const tested = database\n",
  ...Object.fromEntries(
    ['zod', 'mongodb', 'fastify', 'pino'].flatMap((name) => [
      [`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' })],
      [`node_modules/${name}/index.js`, ''],
    ]),
  ),
  'package.json': JSON.stringify({ dependencies: { zod: '1', mongodb: '1', fastify: '1', pino: '1' } }),
}

async function surveyOf(tree: Tree): Promise<Survey> {
  const root = await mkdtemp(join(tmpdir(), 'boundaries-'))
  try {
    for (const [path, text] of Object.entries(tree)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    return await surveyBoundaries(root)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

test('a checkout that keeps the rules has no violation', async () => {
  expect(await surveyOf(setUp)).toMatchObject({ files: 26, broken: [] })
})

const refused: readonly (readonly [folder: string, specifier: string, rule: string])[] = [
  ['src/main', 'mongodb', 'only src/adapters/mongodb imports its driver'],
  ['src/main', 'node:sqlite', 'only src/adapters/sqlite imports its driver'],
  ['src/adapters/sqlite', 'mongodb', 'only src/adapters/mongodb imports its driver'],
  ['src/runtime', '@eventstore/db-client', 'only src/adapters/eventstoredb imports its driver'],
  ['queries/calls', 'fastify', 'only src/adapters/http imports its driver'],
  ['test/spec', 'undici', 'only src/adapters/egress imports its driver'],
  ['src/reactions', 'telnyx', 'only src/adapters/telnyx imports its driver'],
  ['src/kernel', '../ports/clock.ts', 'src/kernel imports its rooms'],
  ['src/kernel', 'pino', 'src/kernel imports its packages'],
  ['src/domain/calls', '../../ports/clock.ts', 'src/domain imports its rooms'],
  ['src/domain/calls', 'node:fs', 'src/domain imports its Node modules'],
  ['src/ports', '../domain/supply/lane.ts', 'src/ports imports its rooms'],
  ['src/runtime', '../domain/supply/lane.ts', 'src/runtime imports its rooms'],
  ['src/runtime', '../adapters/sqlite/database.ts', 'src/runtime imports its rooms'],
  ['src/reactions', '../runtime/writer.ts', 'src/reactions imports its rooms'],
  ['src/api', '../adapters/http/server.ts', 'src/api imports its rooms'],
  ['src/api', '../main/compose.ts', 'src/api imports its rooms'],
  ['src/explain', '../api/throttle.ts', 'src/explain imports its rooms'],
  ['src/seed', '../main/compose.ts', 'src/seed imports its rooms'],
  ['src/adapters/sqlite', '../../domain/shared/limits.ts', 'src/adapters imports its rooms'],
  ['src/adapters/http', '../../domain/supply/lane.ts', 'src/adapters/http imports its rooms'],
  ['src/adapters/http', '../sqlite/database.ts', 'adapters do not import each other'],
  ['commands/supply', '../../projections/supply/lanes.ts', 'commands imports its rooms'],
  ['projections/supply', '../../commands/supply/pause-lane.ts', 'projections imports its rooms'],
  ['queries/supply', '../../commands/supply/pause-lane.ts', 'queries imports its rooms'],
  ['scripts', '../src/adapters/sqlite/database.ts', 'scripts imports its rooms'],
  ['src/elsewhere', 'zod', 'every file has a room'],
  ['src/main', './absent.ts', 'imports resolve'],
  ['src/domain/shared', '../supply/lane.ts', 'shared imports no later context'],
  ['src/domain/money', '../calls/call.ts', 'money imports no later context'],
  ['src/domain/supply', '../configuration/workspace.ts', 'supply imports no later context'],
  ['src/domain/routing', '../calls/call.ts', 'routing imports no later context'],
  ['projections/demand', '../../src/domain/campaigns/route.ts', 'demand imports no later context'],
  ['projections/supply', '../calls/call-log.ts', 'supply imports no later context'],
  ['commands/supply', '../../src/domain/routing/gates.ts', 'commands of supply import no later context'],
  [
    'queries/supply',
    '../calls/list-calls.ts',
    "queries import another context's queries from shared or a *-figures file",
  ],
  ['src/domain/elsewhere', 'zod', 'every capability has a context'],
  ['commands', 'zod', 'every capability has a context'],
]

describe('an import against the rules', () => {
  const pathOf = (folder: string, n: number) => `${folder}/added-${n}.ts`
  let broken: readonly string[] = []
  beforeAll(async () => {
    const added = refused.map(([folder, specifier], n) => [pathOf(folder, n), `import type {} from '${specifier}'\n`])
    broken = (await surveyOf({ ...setUp, ...Object.fromEntries(added) })).broken
  })

  test.for(refused.map((row, n) => [...row, n] as const))('%s may not import %s: %s', ([folder, , rule, n]) => {
    const path = pathOf(folder, n)
    expect(broken.filter((found) => found.startsWith(`${path} `)).map((found) => found.split(': ')[1])).toContain(rule)
  })
})

test('the targets projection imports no later context but its routes', async () => {
  const path = 'projections/demand/targets.ts'
  const { broken } = await surveyOf({ ...setUp, [path]: "import '../../src/domain/calls/call.ts'\n" })
  expect(broken).toEqual([`${path} → src/domain/calls/call.ts: target rows import only routes of later contexts`])
})

test('a driver is allowed in its adapter, and bare in a benchmark', async () => {
  const importing = "import 'mongodb'\n"
  const { broken } = await surveyOf({
    ...setUp,
    'src/adapters/mongodb/store.ts': importing,
    'test/bench/ceiling.ts': importing,
  })
  expect(broken).toEqual([])
})

test('cycles and barrels are refused', async () => {
  const { broken } = await surveyOf({
    ...setUp,
    'src/domain/supply/one.ts': "import { two } from './two.ts'\nexport const one = () => two\n",
    'src/domain/supply/two.ts': "import { one } from './one.ts'\nexport const two = () => one\n",
    'src/domain/supply/barrel.ts': "export { lane } from './lane.ts'\n",
  })
  expect(broken.map((sentence) => sentence.split(': ')[1]).sort()).toEqual(['no barrels', 'no cycles'])
})

test('nothing to read is a failure, not a pass', async () => {
  await expect(surveyOf({ 'package.json': '{}' })).rejects.toThrow('no TypeScript file')
})
