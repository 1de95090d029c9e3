import type { Map as PersistentMap } from 'immutable'
import { z } from 'zod'
import { id, instant } from '../../kernel/wire.ts'
import { nameSchema } from '../shared/fields.ts'
import { CAMPAIGN, NAME, VERTICAL } from '../shared/limits.ts'
import { isSameName } from '../shared/names.ts'
import { applyPatch } from '../shared/patch.ts'
import type { SliceOf } from '../shared/slice.ts'

/** Id of a vertical: a slug for the platform's, a UUID for a workspace's own. */
export const verticalId = z.string().min(1).max(CAMPAIGN.verticalId)

/** What a campaign sells: a vertical of the platform or of a workspace (Document 1, Campaign; Supplement §5). */
export const vertical = z
  .object({
    id: verticalId,
    name: nameSchema(NAME.vertical),
    short: nameSchema({ min: 1, max: VERTICAL.short }),
  })
  .meta({ id: 'VerticalReference' })
export type Vertical = Readonly<z.infer<typeof vertical>>

/** A workspace's own vertical. A new campaign needs an active one. */
export const ownVertical = vertical.extend({ id, active: z.boolean(), createdAt: instant })
export type OwnVertical = Readonly<z.infer<typeof ownVertical>>

/** The fields of a vertical that can change. */
export const verticalChanges = ownVertical.pick({ active: true }).partial()

/** These names are the storage format. */
export const verticalEvents = {
  VerticalCreated: z.object({ vertical: ownVertical }),
  VerticalChanged: z.object({ verticalId: id, name: z.string(), before: verticalChanges, after: verticalChanges }),
}

/** A workspace's own verticals, by id. */
export interface Verticals {
  readonly verticals: PersistentMap<string, OwnVertical>
}

export const evolveVerticals: SliceOf<Verticals, typeof verticalEvents> = {
  VerticalCreated: (state, { data }) => ({ ...state, verticals: state.verticals.set(data.vertical.id, data.vertical) }),
  VerticalChanged: (state, { data }) => ({
    ...state,
    verticals: state.verticals.update(data.verticalId, (old) => old && applyPatch(old, data.after)),
  }),
}

/** The twelve platform verticals. */
export const PLATFORM_VERTICALS: readonly Vertical[] = [
  { id: 'auto-insurance', name: 'Auto insurance', short: 'Auto' },
  { id: 'health-insurance', name: 'Health insurance', short: 'Health' },
  { id: 'home-services', name: 'Home services', short: 'Home' },
  { id: 'legal', name: 'Legal', short: 'Legal' },
  { id: 'medicare', name: 'Medicare', short: 'Medicare' },
  { id: 'mortgage', name: 'Mortgage', short: 'Mortgage' },
  { id: 'plumbing', name: 'Plumbing', short: 'Plumbing' },
  { id: 'roofing', name: 'Roofing', short: 'Roofing' },
  { id: 'solar', name: 'Solar', short: 'Solar' },
  { id: 'tax', name: 'Tax', short: 'Tax' },
  { id: 'travel', name: 'Travel', short: 'Travel' },
  { id: 'other', name: 'Other', short: 'Other' },
]

const byId = new Map(PLATFORM_VERTICALS.map((vertical) => [vertical.id, vertical]))

/** The platform vertical with this id; null when there is none. */
export function platformVertical(id: string): Vertical | null {
  return byId.get(id) ?? null
}

/** What is wrong with a vertical for a new campaign, as a sentence; null when it can be used. */
export function verticalProblem({ verticals }: Verticals, id: string): string | null {
  const own = verticals.get(id)
  if (own) return own.active ? null : 'The vertical is not active. Use an active one.'
  return platformVertical(id) ? null : 'Must be the id of a platform vertical or of one of the workspace’s own.'
}

/** Whether a vertical of the platform or of the workspace already has this name. */
export function isVerticalNameTaken({ verticals }: Verticals, name: string): boolean {
  return [...PLATFORM_VERTICALS, ...verticals.values()].some((known) => isSameName(known.name, name))
}
