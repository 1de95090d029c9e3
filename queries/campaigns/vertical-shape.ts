import { z } from 'zod'
import { verticals } from '../../projections/campaigns/verticals.ts'
import { PLATFORM_VERTICALS, platformVertical, type Vertical, vertical } from '../../src/domain/campaigns/vertical.ts'
import type { WithId } from '../../src/kernel/document.ts'
import type { ReadStore } from '../../src/ports/read-store.ts'
import { type DocOf, readMany } from '../shared/documents.ts'

/** A vertical in a list. */
export const verticalShape = vertical
  .extend({
    active: z.boolean(),
    /** True for a vertical of the platform, false for a workspace's own. */
    platform: z.boolean(),
  })
  .meta({ id: 'Vertical' })
type VerticalShape = z.infer<typeof verticalShape>

/** The platform's verticals in a response, in their own order. */
export const platformShapes: readonly VerticalShape[] = PLATFORM_VERTICALS.map((vertical) => ({
  ...vertical,
  active: true,
  platform: true,
}))

/** A workspace's own vertical in a response. */
export function verticalShapeOf({ id, name, short, active }: WithId<DocOf<typeof verticals>>): VerticalShape {
  return { id, name, short, active, platform: false }
}

/** The verticals of campaigns, by id. */
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
