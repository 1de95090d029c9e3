import type { ReadStore } from './read-store.ts'

/** What a query may reach: the read models, and where the platform is seen from outside. */
export interface QueryPorts {
  readonly views: ReadStore
  /** Base of links that leave the platform, without a slash at the end. */
  readonly publicUrl: string
}
