import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Survey, surveyBoundaries } from '../../scripts/boundaries.ts'

type Tree = Readonly<Record<string, string>>

/** Small files for every room, so that each import below has something to point at. */
const house: Tree = {
  'src/kernel/event.ts': "import { z } from 'zod'\nexport const event = z.object({})\n",
  'src/domain/lane.ts': "import { event } from '../kernel/event.ts'\nexport const lane = event\n",
  'src/domain/limits.ts': 'export const limit = 1\n',
  'src/ports/clock.ts': 'export interface Clock { now(): number }\n',
  'src/runtime/writer.ts': "import type { Clock } from '../ports/clock.ts'\nexport type Writer = Clock\n",
  'src/adapters/http/server.ts': "import { limit } from '../../domain/limits.ts'\nexport const server = limit\n",
  'src/adapters/sqlite/database.ts': 'export const database = 1\n',
  'src/reactions/settlement.ts': 'export const settlement = 1\n',
  'src/main/compose.ts': "import { server } from '../adapters/http/server.ts'\nexport const compose = server\n",
  'commands/pause-lane.ts': "import { lane } from '../src/domain/lane.ts'\nexport const pauseLane = lane\n",
  'projections/lanes.ts': 'export const lanes = 1\n',
  'queries/list-lanes.ts': "import { lanes } from '../projections/lanes.ts'\nexport const listLanes = lanes\n",
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

test('a house that keeps the rules is read whole and breaks none', async () => {
  expect(await surveyOf(house)).toMatchObject({ files: 14, broken: [] })
})

const refused: readonly (readonly [path: string, specifier: string, rule: string])[] = [
  ['src/main/added.ts', 'mongodb', 'only src/adapters/mongodb imports its driver'],
  ['src/main/added.ts', 'node:sqlite', 'only src/adapters/sqlite imports its driver'],
  ['src/adapters/sqlite/added.ts', 'mongodb', 'only src/adapters/mongodb imports its driver'],
  ['src/runtime/added.ts', '@eventstore/db-client', 'only src/adapters/eventstoredb imports its driver'],
  ['queries/added.ts', 'fastify', 'only src/adapters/http imports its driver'],
  ['test/spec/added.ts', 'undici', 'only src/adapters/egress imports its driver'],
  ['src/reactions/added.ts', 'telnyx', 'only src/adapters/telnyx imports its driver'],
  ['src/kernel/added.ts', '../ports/clock.ts', 'src/kernel imports its rooms'],
  ['src/kernel/added.ts', 'pino', 'src/kernel imports its packages'],
  ['src/domain/added.ts', '../ports/clock.ts', 'src/domain imports its rooms'],
  ['src/domain/added.ts', 'node:fs', 'src/domain imports its Node modules'],
  ['src/ports/added.ts', '../domain/lane.ts', 'src/ports imports its rooms'],
  ['src/runtime/added.ts', '../domain/lane.ts', 'src/runtime imports its rooms'],
  ['src/runtime/added.ts', '../adapters/sqlite/database.ts', 'src/runtime imports its rooms'],
  ['src/reactions/added.ts', '../runtime/writer.ts', 'src/reactions imports its rooms'],
  ['src/adapters/sqlite/added.ts', '../../domain/limits.ts', 'src/adapters imports its rooms'],
  ['src/adapters/http/added.ts', '../../domain/lane.ts', 'src/adapters/http imports its rooms'],
  ['src/adapters/http/added.ts', '../sqlite/database.ts', 'adapters do not import each other'],
  ['commands/added.ts', '../projections/lanes.ts', 'commands imports its rooms'],
  ['projections/added.ts', '../commands/pause-lane.ts', 'projections imports its rooms'],
  ['queries/added.ts', '../commands/pause-lane.ts', 'queries imports its rooms'],
  ['scripts/added.ts', '../src/adapters/sqlite/database.ts', 'scripts imports its rooms'],
  ['src/elsewhere/added.ts', 'zod', 'every file has a room'],
  ['src/main/added.ts', './absent.ts', 'imports resolve'],
]

test.for(refused)('%s may not import %s: %s', async ([path, specifier, rule]) => {
  const { broken } = await surveyOf({ ...house, [path]: `import type {} from '${specifier}'\n` })
  expect(broken.filter((sentence) => sentence.startsWith(path)).map((sentence) => sentence.split(': ')[1])).toContain(
    rule,
  )
})

test('a driver is allowed in its adapter, and bare in a benchmark', async () => {
  const importing = "import 'mongodb'\n"
  const { broken } = await surveyOf({
    ...house,
    'src/adapters/mongodb/store.ts': importing,
    'test/bench/ceiling.ts': importing,
  })
  expect(broken).toEqual([])
})

test('cycles and barrels are refused', async () => {
  const { broken } = await surveyOf({
    ...house,
    'src/domain/one.ts': "import { two } from './two.ts'\nexport const one = () => two\n",
    'src/domain/two.ts': "import { one } from './one.ts'\nexport const two = () => one\n",
    'src/domain/barrel.ts': "export { lane } from './lane.ts'\n",
  })
  expect(broken.map((sentence) => sentence.split(': ')[1]).sort()).toEqual(['no barrels', 'no cycles'])
})

test('nothing to read is a failure, not a pass', async () => {
  await expect(surveyOf({ 'package.json': '{}' })).rejects.toThrow('no TypeScript file')
})
