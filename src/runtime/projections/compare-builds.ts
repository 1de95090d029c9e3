import { sleep } from '../../kernel/async/sleep.ts'
import type { AnyProjection } from '../../kernel/projection.ts'
import { sha256 } from '../../kernel/sha256.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { ReadStore, StoredDocument } from '../../ports/read-store.ts'
import { hasReached } from './build-completeness.ts'
import type { BuildNames } from './build-names.ts'
import { coverageOf } from './coverage.ts'
import { idBatches, readDocuments, sameDocument } from './diff-documents.ts'

/** What two builds of one version of a projection hold. */
export interface BuildComparison {
  readonly documents: number
  /** SHA-256 of the documents of the active build and of the new one, in the order of their ids; the same where they hold the same. */
  readonly activeHash: string
  readonly newHash: string
  /** Ids of documents that differ, or that only one of them has: the first ones, and the number of all. */
  readonly differing: readonly string[]
  readonly differences: number
}

export interface ComparedBuilds {
  readonly projection: AnyProjection
  readonly active: BuildNames
  readonly built: BuildNames
}

interface ComparePorts {
  readonly log: Pick<EventLog, 'head' | 'readAll'>
  readonly store: ReadStore
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Differing documents whose ids are kept, at most. */
const MAX_IDS = 1_000
/** How often documents that differ are read again once both builds have passed the end of the log: they may be written all the time. */
const LOOKS = 20
const POLL_MS = 100
const HASH_CHUNK = 500

const isLive = ({ expiresAt }: AnyProjection, now: number, one: StoredDocument | undefined): StoredDocument | null => {
  const at = one ? (expiresAt?.(one.doc) ?? null) : null
  return one === undefined || (at !== null && at <= now) ? null : one
}

/** Documents of both builds by id, without those that have expired. */
async function readBoth({ store, clock }: ComparePorts, builds: ComparedBuilds, ids: readonly string[]) {
  const [active, built] = await Promise.all(
    [builds.active, builds.built].map(({ collection }) => readDocuments({ store, collection }, ids)),
  )
  const now = clock.now()
  return ids.map((id) => {
    const isUnreadable = active?.unreadable.includes(id) || built?.unreadable.includes(id)
    const left = isLive(builds.projection, now, active?.documents.get(id))
    const right = isLive(builds.projection, now, built?.documents.get(id))
    return { id, left, right, isSame: !isUnreadable && sameDocument(left, right) }
  })
}

/** SHA-256 of documents that come in the order of their ids, chunk by chunk: independent of how they are read. */
function createHash() {
  let hash = ''
  let lines: string[] = []
  const flush = () => {
    if (lines.length > 0) hash = sha256(`${hash}\n${lines.join('\n')}`)
    lines = []
  }
  return {
    add({ id, doc }: StoredDocument): void {
      lines.push(`${id} ${JSON.stringify(doc)}`)
      if (lines.length === HASH_CHUNK) flush()
    },
    digest(): string {
      flush()
      return hash
    },
  }
}

/**
 * Compares the active build of a projection with a new one that has caught up, while both may be written: documents that differ
 * are read again once both have passed the end of the log. @throws LogUnavailable, StoreUnavailable
 */
export async function compareBuilds(ports: ComparePorts, builds: ComparedBuilds): Promise<BuildComparison> {
  const { store } = ports
  const [activeHash, newHash] = [createHash(), createHash()]
  const suspects: string[] = []
  let documents = 0
  let suspected = 0
  const suspect = (id: string) => {
    suspected += 1
    if (suspects.length < MAX_IDS) suspects.push(id)
  }
  for await (const ids of idBatches({ store, collection: builds.active.collection })) {
    documents += ids.length
    for (const { id, left, isSame } of await readBoth(ports, builds, ids)) {
      if (left) activeHash.add(left)
      if (!isSame) suspect(id)
    }
  }
  for await (const ids of idBatches({ store, collection: builds.built.collection }))
    for (const { id, left, right } of await readBoth(ports, builds, ids)) {
      if (right) newHash.add(right)
      if (left === null && right !== null) suspect(id)
    }
  const differing = await stillDiffering(ports, builds, suspects)
  const hashes = { activeHash: activeHash.digest(), newHash: newHash.digest() }
  // Documents that were being written make other hashes, and no difference.
  const newest = differing.length === 0 ? { activeHash: hashes.newHash, newHash: hashes.newHash } : hashes
  return { documents, ...newest, differing, differences: Math.max(0, suspected - suspects.length) + differing.length }
}

/** Waits until both builds have passed a position. */
async function waitForBoth(
  { log, store, clock, signal }: ComparePorts,
  { projection, active, built }: ComparedBuilds,
  position: number,
): Promise<void> {
  while (!signal.aborted) {
    const checkpoints = await store.checkpoints(`${projection.name}@`)
    const reached = await Promise.all(
      [active, built].map(({ checkpoint }) =>
        hasReached(log, projection, coverageOf(checkpoints, checkpoint), position),
      ),
    )
    if (!reached.includes(false)) return
    await sleep(clock, POLL_MS, signal)
  }
}

/** Of some documents, those that differ although no event before the end of the log is left for either. */
async function stillDiffering(
  ports: ComparePorts,
  builds: ComparedBuilds,
  suspects: readonly string[],
): Promise<readonly string[]> {
  const confirmed: string[] = []
  let open = suspects
  for (let looks = 0; open.length > 0 && looks < LOOKS && !ports.signal.aborted; looks += 1) {
    const head = await ports.log.head()
    await waitForBoth(ports, builds, head)
    const pairs = (await readBoth(ports, builds, open)).filter(({ isSame }) => !isSame)
    const isMoving = (one: StoredDocument | null) => one !== null && one.position > head
    const moving = pairs.filter(({ left, right }) => isMoving(left) || isMoving(right))
    confirmed.push(...pairs.filter((pair) => !moving.includes(pair)).map(({ id }) => id))
    open = moving.map(({ id }) => id)
  }
  return [...confirmed, ...open]
}
