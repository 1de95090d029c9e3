/** What a campaign sells, as the platform names it (Supplement §5). */
export interface Vertical {
  readonly id: string
  readonly name: string
  readonly short: string
}

/** The twelve platform verticals; their ids are slugs. */
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

/** The vertical of this id; null when there is none. */
export function verticalOf(id: string): Vertical | null {
  return byId.get(id) ?? null
}
