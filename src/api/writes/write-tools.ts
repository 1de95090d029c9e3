import type { CallsExportBatch, ExportBatchRequest } from '../../../queries/calls/calls-export.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import type { Carrier } from '../../ports/carrier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Egress } from '../../ports/egress.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Random } from '../../ports/random.ts'
import type { ReadStore } from '../../ports/read-store.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { NumberTools } from '../../reactions/number-orders.ts'
import type { CheckpointTracker } from '../../runtime/projections/checkpoint-tracker.ts'
import type { QueryRunner } from '../../runtime/queries/query-runner.ts'
import type { Effects } from '../../runtime/reactions/effects.ts'
import type { StreamWriter } from '../../runtime/write/stream-writer.ts'
import type { ProjectionRow } from '../projection-status.ts'
import type { SignInLimiter } from '../sign-in-limiter.ts'

/** What the write routes work with. */
export interface WriteTools {
  readonly writer: StreamWriter
  readonly queries: QueryRunner
  /** Records that a write of a workspace is answered with what the projections may lack, up to a position. */
  readonly acknowledge: (workspaceId: string, position: number) => void
  readonly positions: CheckpointTracker
  readonly projections: readonly AnyProjection[]
  /** Reads of the read store, for look-ups across workspaces. */
  readonly views: Pick<ReadStore, 'get' | 'getMany' | 'find' | 'count' | 'sum'>
  /** Lines of the call log, for the CSV export. */
  readonly callLines: (request: ExportBatchRequest) => Promise<CallsExportBatch>
  readonly carrier: () => Carrier
  /** Runs what reactions would run later. */
  readonly effects: Pick<Effects<NumberTools>, 'processEvents' | 'runEffects'>
  readonly egress: Egress
  /** Events of a stream from a revision on, in pages. @throws LogUnavailable */
  readonly readStream: EventLog['read']
  /** Whether receivers of webhooks must have `https:` addresses. */
  readonly httpsOnly: boolean
  readonly ops: OperationalStore
  readonly secrets: Secrets
  readonly signInLimiter: SignInLimiter
  /** The state of every projection. */
  readonly projectionRows: () => Promise<readonly ProjectionRow[]>
  /** Starts a rebuild of a projection; false while one is running. */
  readonly rebuild: (name: string) => Promise<boolean>
  readonly clock: Clock
  readonly random: Random
}
