import type { DueJob, RunJobs } from '../../ports/job-runner.ts'
import { runTimers, type TimerRunnerOptions } from './timers.ts'

/** Jobs of an adapter that run at the same time. */
const JOB_SLOTS = 64
/** Jobs of a page without a limit. */
const MAX_JOBS = 500

/** Runs the jobs of adapters by the timers: of several processes one runs each job, failures back off. */
export function createJobRunner({ ops, clock, owner }: Pick<TimerRunnerOptions, 'ops' | 'clock' | 'owner'>): RunJobs {
  return ({ kind, list, run }) => {
    const stop = new AbortController()
    const row = ({ id, dueAt }: DueJob) => ({ id, position: -1, doc: { kind, dueAt, workspaceId: null } })
    const { wake, done } = runTimers({
      ops,
      clock,
      owner,
      signal: stop.signal,
      collection: kind,
      store: {
        find: async (_collection, { skip = 0, limit = MAX_JOBS }) => (await list()).slice(skip, skip + limit).map(row),
      },
      kinds: { [kind]: { slots: JOB_SLOTS, run: ({ id }) => run(id) } },
    })
    return {
      wake,
      close() {
        stop.abort()
        return done
      },
    }
  }
}
