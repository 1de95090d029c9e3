import type { OperationalStore } from './operational-store.ts'
import type { ReadStore } from './read-store.ts'
import type { Secrets } from './secrets.ts'

/** Dependencies of a query. */
export interface QueryPorts {
  readonly views: ReadStore
  /** The operational store, for reads only. */
  readonly ops: OperationalStore
  /** Base of links that leave the platform, without a trailing slash. */
  readonly publicUrl: string
  /** Domain of SIP addresses that publishers are given; none where the environment names none. */
  readonly sipDomain?: string | null
  /** Unseals secrets that a response shows in full, and seals what a cursor holds that its reader may not see. */
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>
}
