import type { Cluster } from './cluster.ts'
import { isUnavailable, type RunContext } from './run-context.ts'
import type { PendingCall } from './steps.ts'

/** The append (from 1) at which a process crashes, before or after it is written. */
export interface CrashAt {
  readonly append: number
  readonly landed: boolean
}

/** Decides what happens to pending calls: they are done, fail, lose their answer, or crash their process. */
export function createFates(context: RunContext, cluster: Cluster, crashAt: CrashAt | null) {
  const { chance, profile } = context
  let appends = 0
  return {
    appends: () => appends,
    decide(call: PendingCall): void {
      const { faulty } = context
      const owner = cluster.ownerOf(call)
      const appending = call.name === 'log.append'
      if (appending) appends += 1
      const crashes = appending && crashAt?.append === appends
      if (owner && (crashes || (faulty && chance.odds(appending ? profile.crashesAppending : profile.crashes)))) {
        call.resolve((crashes ? crashAt.landed : chance.odds(0.5)) ? 'vanish' : 'gone')
        cluster.kill(owner)
      } else if (isUnavailable(context, call.port) || (faulty && chance.odds(profile.failures))) call.resolve('fail')
      else call.resolve(faulty && chance.odds(profile.lostAnswers) ? 'lose' : 'done')
    },
  }
}
