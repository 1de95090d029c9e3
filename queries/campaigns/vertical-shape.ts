import { z } from 'zod'
import { verticals } from '../../projections/campaigns/verticals.ts'
import { PLATFORM_VERTICALS, platformVertical, type Vertical, vertical } from '../../src/domain/campaigns/vertical.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, readMany, type WithId } from '../shared/documents.ts'

/** A vertical as the list of them shows it. */
export const verticalShape = vertical.extend({
  active: z.boolean(),
  /** Whether it is the platform's, rather than the workspace's own. */
  platform: z.boolean(),
})
type VerticalShape = z.infer<typeof verticalShape>

/** The platform's verticals as they are shown, in their own order. */
export const platformShapes: readonly VerticalShape[] = PLATFORM_VERTICALS.map((vertical) => ({
  ...vertical,
  active: true,
  platform: true,
}))

/** A workspace's own vertical as it is shown. */
export function verticalShapeOf({ id, name, short, active }: WithId<DocOf<typeof verticals>>): VerticalShape {
  return { id, name, short, active, platform: false }
}

/** The verticals that campaigns sell, by id. */
export async function verticalsOf(views: ReadStore, ids: readonly string[]) {
  const own = await readMany(
    views,
    verticals,
    ids.filter((id) => platformVertical(id) === null),
  )
  return (id: string): Vertical | null => {
    const found = own.get(id)
    return found ? { id, name: found.name, short: found.short } : platformVertical(id)
  }
}
