import type { LaneProgress } from '../../runtime/projections/projection-runner.ts'

/** The progress of projections that have come equally far, as the projector thread reports it. */
export interface ProjectionAdvance extends Omit<LaneProgress, 'name' | 'touched'> {
  readonly names: readonly string[]
  /** Whether documents were written. */
  readonly touched: boolean
}

/** What the projector thread notifies the query thread of. */
export type AdvanceHandlers = { readonly advance: (advances: readonly ProjectionAdvance[]) => void }

/** What the projector thread is notified of: somebody waits for a position. */
export type HurryHandlers = { readonly hurry: (position: number) => void }

/** Puts reports together. */
export function advancesOf(reports: readonly LaneProgress[]): readonly ProjectionAdvance[] {
  const groups = Map.groupBy(reports, (report) => {
    const { range, position, readable, standby, workspaces } = report
    return workspaces?.length === 0 ? [range.from, range.to, position, readable, standby].join() : report
  })
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map(({ name: _, touched, ...progress }) => ({
      ...progress,
      names: group.map(({ name }) => name),
      touched: touched.length > 0,
    })),
  )
}
