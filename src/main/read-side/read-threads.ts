import { type LoadedThread, loadThread } from './threads.ts'

/** The threads of the read side; that of the projections is null where another process runs them. */
export interface ReadThreads {
  readonly query: LoadedThread
  readonly projector: LoadedThread | null
}

/** Young generation of the projector thread (MB): its batches are short-lived. */
const PROJECTOR_YOUNG_MB = 16

/** Begins to load the threads of the read side. */
export function loadReadThreads(projects: boolean): ReadThreads {
  return {
    query: loadThread(new URL('./query-thread.ts', import.meta.url)),
    projector: projects ? loadThread(new URL('./projector-thread.ts', import.meta.url), PROJECTOR_YOUNG_MB) : null,
  }
}
