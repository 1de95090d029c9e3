import type { OperationalStore } from './operational-store.ts'
import type { ReadStore } from './read-store.ts'
import type { Secrets } from './secrets.ts'

/** What a query may reach: the read models, and where the platform is seen from outside. */
export interface QueryPorts {
  readonly views: ReadStore
  /** What is no read model: here, for reading alone. */
  readonly ops: OperationalStore
  /** Base of links that leave the platform, without a slash at the end. */
  readonly publicUrl: string
  /** Opens what must be shown in full though it is stored sealed. */
  readonly secrets: Pick<Secrets, 'unseal'>
}
