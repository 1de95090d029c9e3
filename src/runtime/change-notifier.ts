import { filter, map, type Observable, share } from 'rxjs'
import { parseStreamName } from '../kernel/entity.ts'
import type { TailPage } from './live-tail.ts'

/** The workspaces that a page concerns: the last position of each workspace's own events, and of events that concern all. */
interface Changes {
  readonly byWorkspace: ReadonlyMap<string, number>
  readonly global: number | null
}

/** Positions of the log at which something changed, by workspace. */
export interface ChangeNotifier {
  /** The last position of each page that concerns the workspace; hot. */
  readonly changesOf: (workspaceId: string) => Observable<number>
}

/**
 * Fans the log's tail out by workspace. Events of the categories `workspaceStreams` concern their workspace, those of
 * `globalStreams` every workspace, and so does the start of the tail. Each page is read once, whatever the number of
 * subscribers.
 */
export function createChangeNotifier(options: {
  readonly tail: Observable<TailPage>
  readonly workspaceStreams: ReadonlySet<string>
  readonly globalStreams: ReadonlySet<string>
}): ChangeNotifier {
  const { tail, workspaceStreams, globalStreams } = options

  function changesIn({ events, position, isStart }: TailPage): Changes {
    const byWorkspace = new Map<string, number>()
    let global = isStart ? position : null
    for (const { stream, meta, position: at } of events) {
      const { category } = parseStreamName(stream)
      if (globalStreams.has(category)) global = at
      else if (workspaceStreams.has(category)) byWorkspace.set(meta.workspaceId ?? '', at)
    }
    return { byWorkspace, global }
  }

  const changes = tail.pipe(map(changesIn), share())
  return {
    changesOf: (workspaceId) =>
      changes.pipe(
        map(({ byWorkspace, global }) => laterOf(byWorkspace.get(workspaceId) ?? null, global)),
        filter((position) => position !== null),
      ),
  }
}

const laterOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)
