import { z } from 'zod'
import type { CampaignStatus } from '../campaigns/campaign.ts'
import { refuseCampaignTransition } from '../campaigns/campaign-transitions.ts'
import { liveKeys } from '../supply/lane.ts'
import { isDelivering } from '../supply/number.ts'
import type { Publisher } from '../supply/publisher.ts'
import type { WorkspaceState } from './workspace.ts'

const stepKey = z.enum(['buyer', 'target', 'routing', 'number', 'publishers', 'funded', 'live'])

export const checklistStep = z.object({
  key: stepKey,
  label: z.string(),
  done: z.boolean(),
  blocking: z.boolean(),
  optional: z.boolean(),
  to: z.string(),
  sentence: z.string(),
})
export const checklist = z
  .object({
    ready: z.boolean(),
    warnings: z.array(z.string()),
    steps: z.array(checklistStep),
  })
  .meta({ id: 'LaunchChecklist' })

/** The facts that decide whether a campaign can launch: counts of its plan, numbers and lanes, and the wallet's balance. */
export interface LaunchFacts {
  readonly campaignId: string
  readonly status: CampaignStatus
  /** Active buyers owning a target on the plan. */
  readonly activeBuyers: number
  readonly activeTargets: number
  readonly activeRoutes: number
  /** Numbers on the campaign that deliver their calls. */
  readonly readyNumbers: number
  /** Lanes on the campaign with a routing key that is not revoked. */
  readonly keyedLanes: number
  readonly lanes: number
  /** Publishers with a lane on the campaign that are not live. */
  readonly idlePublishers: readonly Pick<Publisher, 'name' | 'status'>[]
  readonly balanceCents: number
}

interface Rule {
  readonly key: z.infer<typeof stepKey>
  readonly label: string
  /** Whether an open step refuses the launch; other steps are advice. */
  readonly required: boolean
  readonly optional: boolean
  readonly to: (campaignId: string) => string
  readonly done: (facts: LaunchFacts) => boolean
  readonly open: string
  readonly closed: string
  /** Why the launch is refused although the step is done; null when it is not. */
  readonly blocker?: (facts: LaunchFacts) => string | null
}

/** The steps in the order shown (Supplement §5). */
const RULES: readonly Rule[] = [
  {
    key: 'buyer',
    label: 'Buyer',
    required: true,
    optional: false,
    to: () => '/buyers',
    done: ({ activeBuyers }) => activeBuyers > 0,
    open: 'No active buyer owns a target on the routing plan.',
    closed: 'An active buyer owns a target on the routing plan.',
  },
  {
    key: 'target',
    label: 'Target',
    required: true,
    optional: false,
    to: () => '/targets',
    done: ({ activeTargets }) => activeTargets > 0,
    open: 'No target on the routing plan is active.',
    closed: 'A target on the routing plan is active.',
  },
  {
    key: 'routing',
    label: 'Routing plan',
    required: true,
    optional: false,
    to: (campaignId) => `/campaigns/${campaignId}/routing`,
    done: ({ activeRoutes }) => activeRoutes > 0,
    open: 'The routing plan has no active route.',
    closed: 'The routing plan has an active route.',
  },
  {
    key: 'number',
    label: 'Number',
    required: true,
    optional: false,
    to: () => '/numbers',
    done: ({ readyNumbers, keyedLanes }) => readyNumbers + keyedLanes > 0,
    open: 'No ready number is on the campaign, and no lane has an active routing key.',
    closed: 'Calls can reach the campaign.',
  },
  {
    key: 'publishers',
    label: 'Publishers',
    required: false,
    optional: true,
    to: (campaignId) => `/campaigns/${campaignId}/publishers`,
    done: ({ lanes }) => lanes > 0,
    open: 'No publisher sends calls to the campaign yet.',
    closed: 'A publisher sends calls to the campaign.',
  },
  {
    key: 'funded',
    label: 'Wallet',
    required: true,
    optional: false,
    to: () => '/wallet',
    done: ({ balanceCents }) => balanceCents > 0,
    open: 'The wallet is empty.',
    closed: 'The wallet is funded.',
  },
  {
    key: 'live',
    label: 'Live',
    required: false,
    optional: false,
    to: (campaignId) => `/campaigns/${campaignId}`,
    done: ({ status }) => status === 'live',
    open: 'The campaign is not live.',
    closed: 'The campaign is live.',
    blocker: (facts) => refuseCampaignTransition(facts, 'live', 'console')?.message ?? null,
  },
]

/** What to know about a launch although it does not refuse it: optional steps that are open, publishers that are not live. */
function warningsOf(steps: readonly z.infer<typeof checklistStep>[], { idlePublishers }: LaunchFacts): string[] {
  const open = steps.filter(({ optional, done }) => optional && !done).map(({ sentence }) => sentence)
  const idle = idlePublishers.map(
    ({ name, status }) =>
      `Publisher ${name} is not live (${status}): its pings are refused, and its calls earn it no payout.`,
  )
  return [...open, ...idle]
}

/** The go-live checklist; `blockers` are the sentences with which a launch would be refused. */
export function checklistOf(facts: LaunchFacts) {
  const steps = RULES.map(({ key, label, required, optional, to, done, open, closed, blocker }) => {
    const isDone = done(facts)
    const blocked = blocker?.(facts) ?? null
    const blocking = blocked !== null || (required && !isDone)
    const sentence = blocked ?? (isDone ? closed : open)
    return { key, label, done: isDone, blocking, optional, to: to(facts.campaignId), sentence }
  })
  // A status that allows no launch refuses it before the checklist is read.
  const refusal = RULES.flatMap(({ blocker }) => blocker?.(facts) ?? [])
  const open = steps.filter(({ blocking }) => blocking).map(({ sentence }) => sentence)
  const blockers = refusal.length > 0 ? refusal : open
  const canGoLive = blockers.length === 0
  return { blockers, canGoLive, checklist: { ready: canGoLive, warnings: warningsOf(steps, facts), steps } }
}

/** The launch facts of a campaign in the workspace's current state. */
export function launchFacts(state: WorkspaceState, campaignId: string, balanceCents: number): LaunchFacts {
  const plan = [...(state.routes.get(campaignId)?.values() ?? [])]
  const targets = plan.flatMap(({ targetId }) => state.targets.get(targetId) ?? [])
  const buyers = new Set(targets.map(({ buyerId }) => buyerId))
  const lanes = [...state.lanes.values()].filter((lane) => lane.campaignId === campaignId)
  const senders = lanes.flatMap(({ publisherId }) => state.publishers.get(publisherId) ?? [])
  const keyed = lanes.filter(({ publisherId }) => liveKeys(state, publisherId, campaignId).length > 0)
  return {
    campaignId,
    status: state.campaigns.get(campaignId)?.status ?? 'draft',
    activeBuyers: [...buyers].filter((buyerId) => state.buyers.get(buyerId)?.status === 'active').length,
    activeTargets: targets.filter(({ status }) => status === 'active').length,
    activeRoutes: plan.filter(({ active }) => active).length,
    readyNumbers: state.numbers.count((number) => number.campaignId === campaignId && isDelivering(number)),
    keyedLanes: keyed.length,
    lanes: lanes.length,
    idlePublishers: senders.filter(({ status }) => status !== 'live'),
    balanceCents,
  }
}
