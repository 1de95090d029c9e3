import { waitBeforeRetry } from '../../kernel/async/backoff.ts'
import { isUnavailable } from '../../kernel/async/errors.ts'
import { type AnyEntity, parseStreamName, UnknownEventVersion } from '../../kernel/entity.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { FoldLoader } from './load-fold.ts'
import type { Mailboxes } from './mailboxes.ts'
import { findMissingSnapshots, type LongStream } from './snapshots/find-missing.ts'
import { deleteOutdatedSnapshots } from './snapshots/outdated.ts'

export interface SnapshotStatus {
  /** Snapshots of another version that this one has not built yet. */
  readonly missing: number
  /** Streams whose last snapshot could not be saved. */
  readonly failing: number
}

/** Builds the snapshots that a new version of the code lacks. */
export interface SnapshotBuilder {
  readonly build: (entities: readonly AnyEntity[], signal: AbortSignal) => Promise<void>
  readonly status: () => SnapshotStatus
}

interface BuilderPorts {
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly mailboxes: Mailboxes
  readonly foldLoader: FoldLoader
  readonly onSnapshotFailure: (stream: string, error: unknown) => void
}

/** Creates the builder of a process. */
export function createSnapshotBuilder(ports: BuilderPorts): SnapshotBuilder {
  const { clock, mailboxes, foldLoader, onSnapshotFailure } = ports
  let missing = 0

  /** Works until it succeeds, through times in which a store is unavailable. `onFailure`: it cannot succeed. */
  async function persist(work: () => Promise<void>, signal: AbortSignal, onFailure: (error: unknown) => void) {
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        return await work()
      } catch (error) {
        // A stream with events of a later version is none of this process's.
        if (!isUnavailable(error) || error instanceof UnknownEventVersion) return onFailure(error)
        await waitBeforeRetry(clock, attempt, signal)
      }
    }
  }

  async function buildOne({ entity, stream }: LongStream): Promise<void> {
    const mailbox = mailboxes.mailboxOf(entity, stream)
    await foldLoader.foldOf(mailbox, true)
    await foldLoader.keepUp(mailbox)
  }

  return {
    async build(entities, signal) {
      const byName = new Map(entities.filter(({ longLived }) => longLived).map((entity) => [entity.name, entity]))
      const entityOf = (stream: string) => byName.get(parseStreamName(stream).category) ?? null
      // Until the store has said what is missing, something is.
      missing = 1
      const find = async () => {
        const streams = await findMissingSnapshots(ports, entityOf)
        missing = streams.length
        for (const one of streams) {
          await persist(
            () => buildOne(one),
            signal,
            (error) => onSnapshotFailure(one.stream, error),
          )
          missing -= 1
        }
        await deleteOutdatedSnapshots(ports)
      }
      await persist(find, signal, (error) => onSnapshotFailure('', error))
      missing = 0
    },
    status: () => ({
      missing,
      failing: [...mailboxes.all()].filter(({ snapshots }) => snapshots.failedAt !== null).length,
    }),
  }
}
