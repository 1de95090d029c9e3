import { refuse } from '../../kernel/refusal.ts'
import type { WorkspaceAccess } from '../access/access.ts'
import { planOf } from '../access/plans.ts'

/** 409: the endpoint is paused, and takes neither tests nor replays. */
export function refusePaused() {
  return refuse('conflict', { status: 'paused' }, 'The endpoint is paused. Resume it first.')
}

/** 402: the plan has no webhooks; null when it has. */
export function refuseWithoutWebhooks({ planId }: Pick<WorkspaceAccess, 'planId'>) {
  return planOf(planId).features.webhooks ? null : refuse('plan-upgrade-required', { feature: 'webhooks' })
}
