import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { cruise, type DependencyType, type IRegularForbiddenRuleType as Rule } from 'dependency-cruiser'

/** Allowed imports of a folder (a room), besides its own files: other rooms or single files, npm packages, Node modules. */
interface Room {
  readonly rooms: readonly string[]
  readonly packages: readonly string[] | 'any'
  readonly node: readonly string[] | 'any'
}

/** Packages without input or output. */
const pure = ['zod', 'immutable', 'temporal-polyfill', 'libphonenumber-js', 'json-p3', 'uuid', 'ulid']
const core = ['src/kernel', 'src/domain', 'src/ports']
const capabilities = ['commands', 'projections', 'queries']
const business = [...core, ...capabilities, 'src/runtime', 'src/reactions']
const inside = [...business, 'src/api', 'src/explain', 'src/verify', 'src/seed', 'src/adapters']
const adapter: Room = { rooms: ['src/kernel', 'src/ports'], packages: 'any', node: 'any' }

/** The dependency rules. A file in two rooms follows the one with the longer path. */
const rooms: Readonly<Record<string, Room>> = {
  'src/kernel': { rooms: [], packages: ['zod', 'ipaddr.js'], node: [] },
  // For SHA-256 only: a pure function that none of our packages offers.
  'src/kernel/sha256.ts': { rooms: ['src/kernel'], packages: [], node: ['crypto'] },
  // States hold persistent maps.
  'src/kernel/windowed-map.ts': { rooms: ['src/kernel'], packages: ['immutable'], node: [] },
  'src/domain': { rooms: ['src/kernel'], packages: pure, node: ['util'] },
  // For the same.
  'src/domain/activity/activity-entry.ts': { rooms: ['src/domain', 'src/kernel'], packages: pure, node: ['crypto'] },
  // For HMAC only: a pure function as well.
  'src/domain/delivery/delivery-request.ts': {
    rooms: ['src/domain', 'src/kernel'],
    packages: pure,
    node: ['crypto'],
  },
  'src/ports': { rooms: ['src/kernel'], packages: ['zod'], node: [] },
  'src/runtime': {
    rooms: ['src/kernel', 'src/ports'],
    packages: [...pure, 'rxjs', 'lru-cache', 'dataloader'],
    node: ['util'],
  },
  // For CRC-32 only: a pure function that none of our packages offers.
  'src/runtime/write/snapshots/checksum.ts': { rooms: ['src/runtime'], packages: [], node: ['zlib'] },
  'src/reactions': {
    rooms: [...core, 'projections', 'commands'],
    packages: [...pure, 'rxjs', 'lru-cache'],
    node: ['util'],
  },
  'src/adapters': adapter,
  'src/adapters/http': { ...adapter, rooms: [...adapter.rooms, 'src/domain/shared/limits.ts'] },
  'src/api': { rooms: business, packages: 'any', node: 'any' },
  // Runs in browsers, by itself.
  'src/snippet': { rooms: [], packages: [], node: [] },
  'src/explain': { rooms: business, packages: pure, node: ['util'] },
  'src/verify': { rooms: business, packages: pure, node: ['util'] },
  'src/seed': { rooms: [...business, 'src/api'], packages: pure, node: ['crypto', 'fs', 'path'] },
  'src/main': { rooms: inside, packages: 'any', node: 'any' },
  commands: { rooms: ['src/domain', 'src/kernel'], packages: pure, node: ['util'] },
  projections: { rooms: ['src/domain', 'src/kernel'], packages: pure, node: ['util'] },
  queries: { rooms: [...core, 'projections'], packages: [...pure, 'rxjs'], node: ['util', 'stream'] },
  'scripts/webhook-docs.ts': { rooms: ['src/domain/delivery'], packages: [], node: ['fs', 'path'] },
  scripts: {
    rooms: ['src/main', 'src/explain', 'src/verify', 'src/runtime/projections/rebuild-projections.ts', 'test/bench'],
    packages: 'any',
    node: 'any',
  },
  test: { rooms: [...inside, 'src/main', 'src/snippet', 'scripts'], packages: 'any', node: 'any' },
}

/** Drivers by the only adapter that may import them. Its specs may too, to create driver errors, and benchmarks, to measure the driver alone. */
const drivers: Readonly<Record<string, readonly string[]>> = {
  eventstoredb: ['@eventstore/db-client'],
  sqlite: ['node:sqlite'],
  mongodb: ['mongodb'],
  telnyx: ['telnyx'],
  http: ['fastify', '@fastify/.+'],
  egress: ['undici'],
}

/** Adapters that may use the driver of another: both send requests over HTTP. */
const alsoUsing: Readonly<Record<string, readonly string[]>> = { egress: ['peers'] }
const usersOf = (name: string) => [name, ...(alsoUsing[name] ?? [])]

const file = (path: string): string => (path.endsWith('.ts') ? `^${path}$` : `^${path}/`)
/** Pattern of a package, resolved in node_modules or not. */
const npm = (name: string): string => `(?:^|(?:^|/)node_modules/)${name}(?:/|$)`
/** Pattern of a Node module. */
const node = (name: string): string => `^(?:node:)?${name}(?:/|$)`
/** Dependency types of package imports, installed and declared or not. */
const fromNpm: DependencyType[] = ['npm', 'npm-dev', 'npm-peer', 'npm-optional', 'npm-no-pkg', 'npm-unknown', 'unknown']
const ours = Object.keys(rooms).map(file)

function rule(name: string, from: Rule['from'], to: Rule['to']): Rule {
  return { name, severity: 'error', from, to }
}

function rulesOf([name, room]: readonly [string, Room]): readonly Rule[] {
  const within = Object.keys(rooms).filter((other) => other.startsWith(`${name}/`))
  const from = { path: file(name), ...(within.length > 0 && { pathNot: within.map(file) }) }
  return [
    rule(`${name} imports its rooms`, from, { path: ours, pathNot: [name, ...room.rooms].map(file) }),
    ...(room.packages === 'any'
      ? []
      : [
          rule(`${name} imports its packages`, from, {
            dependencyTypes: fromNpm,
            pathNot: [...ours, ...room.packages.map(npm)],
          }),
        ]),
    ...(room.node === 'any'
      ? []
      : [rule(`${name} imports its Node modules`, from, { dependencyTypes: ['core'], pathNot: room.node.map(node) })]),
  ]
}

/** Business contexts. Each may import those before it, and none after it. */
const contexts = [
  'shared',
  'money',
  'access',
  'demand',
  'campaigns',
  'supply',
  'delivery',
  'configuration',
  'bidding',
  'routing',
  'auctions',
  'calls',
  'insertion',
  'activity',
  'reporting',
]
const contextFolders = '(?:commands|projections|queries|src/domain)'

/** The workspace's configuration spans contexts: commands of several contexts write its stream. */
const SPANNING = '^src/domain/configuration/'

/** The only import of a later context: a target's row lists the campaigns that route to it, so it folds their routes. */
const ROUTES = '^src/domain/campaigns/route\\.ts$'
const TARGET_ROWS = '^projections/demand/targets\\.ts$'

const contextRules = contexts.flatMap((context, at): readonly Rule[] => {
  const after = contexts.slice(at + 1).join('|')
  if (after === '') return []
  const later = `^${contextFolders}/(?:${after})/`
  const here = `^(?:projections|src/domain)/${context}/`
  return [
    rule(`${context} imports no later context`, { path: here, pathNot: TARGET_ROWS }, { path: later }),
    rule(
      `commands of ${context} import no later context`,
      { path: `^commands/${context}/` },
      { path: later, pathNot: SPANNING },
    ),
    ...(context === 'demand'
      ? [
          rule(
            'target rows import only routes of later contexts',
            { path: TARGET_ROWS },
            { path: later, pathNot: ROUTES },
          ),
        ]
      : []),
  ]
})

/** Programs over clients that a test generates. */
const CUSTOMER_PROGRAMS = '^test/support/openapi/programs/'

const forbidden: readonly Rule[] = [
  ...contextRules,
  rule(
    "queries import another context's queries from shared or a *-figures file",
    { path: '^queries/([^/]+)/' },
    { path: '^queries/(?!$1/)', pathNot: ['^queries/shared/', '-figures\\.ts$'] },
  ),
  rule(
    'every capability has a context',
    { path: `^${contextFolders}/`, pathNot: contexts.map((context) => `^${contextFolders}/${context}/`) },
    {},
  ),
  ...Object.entries(rooms).flatMap(rulesOf),
  ...Object.entries(drivers).map(([name, packages]) =>
    rule(
      `only src/adapters/${name} imports its driver`,
      {
        pathNot: [
          '^test/bench/',
          ...usersOf(name).flatMap((user) => [`^src/adapters/${user}/`, `^test/spec/adapters/${user}/`]),
        ],
      },
      { path: packages.map((driver) => (driver.startsWith('node:') ? node(driver.slice(5)) : npm(driver))) },
    ),
  ),
  rule('adapters do not import each other', { path: '^src/adapters/([^/]+)/' }, { path: '^src/adapters/(?!$1/)' }),
  rule('every file has a room', { pathNot: ours }, {}),
  rule('imports resolve', { pathNot: CUSTOMER_PROGRAMS }, { couldNotResolve: true }),
  rule('no cycles', {}, { circular: true }),
  rule('no barrels', { path: ours }, { dependencyTypes: ['export'] }),
]

/** Result of the check: numbers of files and imports, and one sentence for each import that breaks a rule. */
export interface Survey {
  readonly files: number
  readonly imports: number
  readonly broken: readonly string[]
}

/**
 * Checks the imports of every TypeScript file of the rooms below `root`.
 * @throws Error when there are no files or no imports, or the parser did not read every file
 */
export async function surveyBoundaries(root: string): Promise<Survey> {
  const tops = [...new Set(Object.keys(rooms).map((name) => name.split('/')[0] ?? name))]
  const found = (await Promise.all(tops.map((top) => filesBelow(root, top)))).flat()
  if (found.length === 0) throw new Error('There is no TypeScript file to read.')
  const { output } = await cruise([...found], {
    baseDir: resolve(root),
    validate: true,
    ruleSet: { forbidden: [...forbidden] },
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['node', 'import', 'default'] },
  })
  if (typeof output === 'string') throw new Error(output)
  const seen = new Set(output.modules.map(({ source }) => source))
  const unseen = found.filter((path) => !seen.has(path))
  if (unseen.length > 0) throw new Error(`The parser did not read ${unseen.length} files, the first ${unseen[0]}.`)
  const imports = output.summary.totalDependenciesCruised ?? 0
  if (imports === 0) throw new Error(`The parser saw no import in ${found.length} files.`)
  const broken = output.summary.violations.map(({ from, to, rule: { name } }) => `${from} → ${to}: ${name}`)
  return { files: found.length, imports, broken }
}

async function filesBelow(root: string, folder: string): Promise<readonly string[]> {
  const names = await readdir(join(root, folder), { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith('.ts')).map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
}

if (import.meta.main) {
  const { files, imports, broken } = await surveyBoundaries('.')
  for (const sentence of broken) console.error(sentence)
  console.log(`${files} files, ${imports} imports, ${broken.length} violations`)
  process.exitCode = broken.length > 0 ? 1 : 0
}
