import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { serverWorkers } from './test/support/servers.ts'

/** One kind of test: the files that hold it, and what it needs. */
function suite(name: string, groupOrder: number, include: readonly string[], needs: object) {
  return { extends: true as const, test: { name, include: [...include], sequence: { groupOrder }, ...needs } }
}

const all = (folder: string) => `test/${folder}/**/*.test.ts`

const servers = ['test/support/servers.ts']

const systems = { globalSetup: servers, maxWorkers: serverWorkers(), testTimeout: 300_000, hookTimeout: 300_000 }

/** Suites whose read models begin with the first event of a shared log: they run while that log is short. */
const EARLY = ['verify', 'compose-services', 'lost-indexes', 'process-roles', 'many-calls', 'readiness', 'dead-threads']

/**
 * End-to-end suites that run before the platforms that the others share: those that run one in their own process need fresh modules,
 * a first start needs a log without a sandbox, and where it matters which process works, no other may share the work.
 */
const before = [
  ...EARLY,
  'access-matrix',
  'first-processes',
  'first-start',
  'hostile-bodies',
  'metrics',
  'openapi-requests',
  'parked-deliveries',
  'parked-streams',
  'platform/stop',
  'stored-secrets',
  'untracked-plan',
].map((name) => `test/e2e/**/${name}.test.ts`)

/** Systems and models in memory: a core each, and nothing of the machine's time. */
const histories = ['model', 'system', 'system-second-half', 'system-bugs', 'system-crashes'].map(
  (name) => `test/simulation/${name}.test.ts`,
)

/** A dozen processes and their servers keep the machine busy for minutes: beside them the time limits of other suites are too short. */
const alone = ['test/simulation/server-faults.test.ts']

/** Suites that take long, in the order of their start: seeds of a sandbox not beside the kills, which load the machine. */
const LONG = [
  'system',
  'system-second-half',
  'model',
  'first-start',
  ...EARLY,
  'stores-unavailable',
  'seed',
  'kill',
  'killed-exports',
  'delivery-kills',
  'two-routers',
  'two-auction-processes',
  'auction-crashes',
  'delivery/answers',
  'endpoint-states',
  'delivery/matching',
  'live-board',
  'operations',
  'telnyx-calls',
  'publisher-keys',
  'number-purchase',
  'rate-limits',
  'sign-in',
  'renewals',
  'start-failures',
  'attacks',
  'call-caps',
  'master-key',
  'conversions',
  'call-books',
].map((name) => `/${name}.test.ts`)

/**
 * Starts the suites with workers of their own first, then those that share workers, one project after the other: a platform ends
 * with its worker. In each the long suites start first, so that the short ones fill the workers to the end.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const shared = [...new Set(files.map(({ project }) => project))].filter(({ config }) => !config.isolate)
    const place = ({ moduleId, project }: TestSpecification) => {
      const long = LONG.findIndex((name) => moduleId.endsWith(name))
      return shared.indexOf(project) * LONG.length * 2 + (long < 0 ? LONG.length : long)
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

/**
 * What needs no server first. The others run on two workers, each with platforms and servers of its own: while one waits for a
 * platform, the other works.
 */
export default defineConfig({
  test: {
    watch: false,
    sequence: { sequencer: LongFirst },
    projects: [
      suite('histories', 0, histories, { testTimeout: 30_000, maxWorkers: 2, isolate: false }),
      suite('rules', 0, [all('spec'), all('laws')], { testTimeout: 30_000, maxWorkers: 2, isolate: false }),
      suite('parts', 1, [all('contract'), all('integration')], { ...systems, isolate: false }),
      suite('before', 1, before, systems),
      suite('faults', 1, [all('simulation')], { ...systems, exclude: [...histories, ...alone] }),
      suite('whole', 1, [all('e2e')], { ...systems, exclude: before, isolate: false }),
      suite('alone', 2, alone, systems),
    ],
  },
})
