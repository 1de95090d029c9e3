import { settleCall } from '../../../commands/calls/settle-call.ts'
import { failOver } from '../../../commands/routing/fail-over.ts'
import { releaseCall } from '../../../commands/routing/release-call.ts'
import { routeCall } from '../../../commands/routing/route-call.ts'
import type { WorkspaceState } from '../../../src/domain/configuration/workspace.ts'
import type { Bug } from './process.ts'

/** The configuration with the daily caps of all targets removed. */
function withoutDailyCaps(state: WorkspaceState): WorkspaceState {
  return { ...state, targets: state.targets.map((target) => ({ ...target, dailyCap: 0 })) }
}

const withoutCapsIn = <States extends { readonly workspace: WorkspaceState }>(reads: States): States => ({
  ...reads,
  workspace: withoutDailyCaps(reads.workspace),
})

const routeIgnoringCaps: typeof routeCall = {
  ...routeCall,
  decide: (input, state, context) =>
    routeCall.decide(input, state, { ...context, reads: withoutCapsIn(context.reads) }),
}

const failOverIgnoringCaps: typeof failOver = {
  ...failOver,
  decide: (input, state, context) => failOver.decide(input, state, { ...context, reads: withoutCapsIn(context.reads) }),
}

const settleAgain: typeof settleCall = {
  ...settleCall,
  decide: (input, state, context) => settleCall.decide(input, state && { ...state, settled: null }, context),
}

/** Three seeded bugs of the kind that the simulation must find. The last two show under faults only. */
export const bugs = {
  /** A claim checks every cap of a target except the daily one. */
  forgottenCap: {
    name: 'a claim that forgets a cap',
    commands: { 'route-call': routeIgnoringCaps, 'fail-over': failOverIgnoringCaps },
  },
  /** A call that is settled already is settled again by the next process. */
  settledTwice: {
    name: 'a settlement that is not idempotent',
    commands: { 'settle-call': settleAgain },
  },
  /** The process that recovers the work of a dead one does not release calls. */
  lostRelease: {
    name: 'a release that is lost with the crash',
    recovery: (tools) => ({
      ...tools,
      run: async (command, input, cause) =>
        command.name === releaseCall.name ? null : tools.run(command, input, cause),
    }),
  },
} satisfies Readonly<Record<string, Bug>>
