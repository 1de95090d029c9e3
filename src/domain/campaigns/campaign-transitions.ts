import { statusNote } from '../shared/fields.ts'
import { refuseArchived, refuseTransition } from '../shared/refusals.ts'
import type { Campaign, CampaignStatus } from './campaign.ts'

type Transitions = Readonly<Record<CampaignStatus, readonly CampaignStatus[]>>

/**
 * Allowed transitions of a campaign by who requests them: a user on the console, an API key, the platform's staff
 * (Document 1, Campaign transitions; Supplement §2 and §5).
 */
export const CAMPAIGN_TRANSITIONS = {
  console: { draft: ['live'], live: ['paused'], paused: ['live', 'archived'], archived: ['draft'], restricted: [] },
  key: { draft: [], live: ['paused'], paused: ['live'], archived: [], restricted: [] },
  staff: {
    draft: ['restricted'],
    live: ['restricted'],
    paused: ['restricted'],
    archived: [],
    restricted: ['paused'],
  },
} as const satisfies Readonly<Record<string, Transitions>>
export type CampaignMover = keyof typeof CAMPAIGN_TRANSITIONS

/** Why the staff restricts a campaign; shown to its owner as the status note. */
export const restrictionNote = statusNote.trim().min(1)

/**
 * Refuses a transition that `mover` may not request; null when it is allowed, or the campaign already has that status. The sentence of an
 * archived campaign is the same for each mover: both surfaces show it as a blocker (Document 1, Checklist).
 */
export function refuseCampaignTransition(
  { status }: Pick<Campaign, 'status'>,
  to: CampaignStatus,
  mover: CampaignMover,
) {
  const moves: Transitions = CAMPAIGN_TRANSITIONS[mover]
  const allowed = moves[status]
  if (status === to || allowed.includes(to)) return null
  const refused = refuseTransition('Campaign', status, allowed)
  return status === 'archived' ? { ...refused, message: refuseArchived('Campaign').message } : refused
}
