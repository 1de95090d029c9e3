import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { serverWorkers } from './test/support/servers.ts'

/** One kind of test: the files that hold it, and what it needs. */
function suite(name: string, groupOrder: number, include: readonly string[], needs: object) {
  return { extends: true as const, test: { name, include: [...include], sequence: { groupOrder }, ...needs } }
}

const all = (folder: string) => `test/${folder}/**/*.test.ts`

const servers = ['test/support/servers.ts']

const systems = { globalSetup: servers, testTimeout: 180_000, hookTimeout: 120_000 }

/**
 * End-to-end suites that run before the platforms that the others share: those that run one in their own process need fresh modules,
 * and a first start needs a log without a sandbox.
 */
const before = ['access-matrix', 'first-start', 'hostile-bodies', 'stored-secrets', 'untracked-plan'].map(
  (name) => `test/e2e/**/${name}.test.ts`,
)

/** Systems and models in memory: a core each, and nothing of the machine's time. */
const histories = ['model', 'system', 'system-bugs', 'system-crashes'].map((name) => `test/simulation/${name}.test.ts`)

/** Suites that take half a minute or more: they start first, so that the others of their group run beside them. */
const LONG = /\/(first-start|kill|live-board|many-calls|operations|process-roles|system|two-routers)\.test\.ts$/

/** Starts the long suites of a group first. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const [long, short] = [true, false].map((isLong) => files.filter((file) => LONG.test(file.moduleId) === isLong))
    return [...(await super.sort(long ?? [])), ...(await super.sort(short ?? []))]
  }
}

/**
 * Cheap groups first. End-to-end suites run on three workers, each with platforms and servers of its own: while one waits for a
 * platform, the others work.
 */
export default defineConfig({
  test: {
    watch: false,
    sequence: { sequencer: LongFirst },
    projects: [
      suite('histories', 0, histories, { testTimeout: 30_000, maxWorkers: 2, isolate: false }),
      suite('rules', 0, [all('spec'), all('laws')], { testTimeout: 30_000, maxWorkers: 2, isolate: false }),
      suite('parts', 1, [all('contract'), all('integration')], {
        globalSetup: servers,
        testTimeout: 60_000,
        hookTimeout: 60_000,
        maxWorkers: 2,
      }),
      suite('before', 1, before, { ...systems, maxWorkers: 2 }),
      suite('whole', 2, [all('e2e')], {
        ...systems,
        exclude: before,
        isolate: false,
        maxWorkers: serverWorkers(),
      }),
      suite('faults', 3, [all('simulation')], {
        ...systems,
        exclude: histories,
        maxWorkers: serverWorkers(),
      }),
    ],
  },
})
