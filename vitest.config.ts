import { defineConfig } from 'vitest/config'
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

/** The longest suite of faults: it starts first, so that the others run beside it. */
const kills = 'test/simulation/kill.test.ts'

/**
 * Cheap groups first. End-to-end suites run on three workers, each with platforms and servers of its own: while one waits for a
 * platform, the others work. In a group the long suites start first: histories beside the specs, kills beside the other faults.
 */
export default defineConfig({
  test: {
    watch: false,
    projects: [
      suite('histories', 0, histories, { testTimeout: 30_000, maxWorkers: 2, isolate: false }),
      suite('rules', 0, [all('spec'), all('laws')], { testTimeout: 30_000, maxWorkers: 2, isolate: false }),
      suite('parts', 1, [all('contract'), all('integration')], {
        globalSetup: servers,
        testTimeout: 60_000,
        hookTimeout: 60_000,
        maxWorkers: 2,
      }),
      suite('before', 2, before, { ...systems, maxWorkers: 2 }),
      suite('whole', 3, [all('e2e')], {
        ...systems,
        exclude: before,
        isolate: false,
        maxWorkers: serverWorkers(),
      }),
      suite('kills', 4, [kills], { ...systems, maxWorkers: serverWorkers() }),
      suite('faults', 4, [all('simulation')], {
        ...systems,
        exclude: [...histories, kills],
        maxWorkers: serverWorkers(),
      }),
    ],
  },
})
