import { Map as PersistentMap } from 'immutable'

/** De-duplication window: how long a repeated commandId returns the result of its first handling (Architecture §3). */
export const COMMAND_DEDUPLICATION_MS = 24 * 3_600_000

/** The revisions that a command appended, and when. */
export interface CommandReceipt {
  readonly from: number
  readonly to: number
  readonly at: string
}

/** Traces by command id: those that came since the fold was read from its cache, and those that came with it. */
interface Receipts {
  readonly added: PersistentMap<string, CommandReceipt>
  readonly kept: SerializedReceipts
}

/** Traces as text, read when one is first looked for: most processes that load a long stream never ask. */
interface SerializedReceipts {
  readonly chunks: readonly string[]
  readonly of: (commandId: string) => CommandReceipt | undefined
}

/** Commands of the last 24 h at least, and 48 h at most. */
export interface ProcessedCommands {
  readonly newer: Receipts
  readonly older: Receipts
  /** Recorded time at which `newer` began to fill; null before the first. */
  readonly since: string | null
}

/** A memory as it is cached: plain JSON. */
export interface SerializedCommands {
  readonly newer: readonly string[]
  readonly older: readonly string[]
  readonly since: string | null
}

/** A chunk is the JSON of one flat list: id, from, to, at, id, … */
type Flat = readonly (string | number)[]

function parseReceipts(chunks: readonly string[]): SerializedReceipts {
  let traces: Map<string, CommandReceipt> | null = null
  const read = () => {
    const all = new Map<string, CommandReceipt>()
    for (const chunk of chunks) {
      const flat: Flat = JSON.parse(chunk)
      for (let n = 0; n < flat.length; n += 4) {
        const [id, from, to, at] = flat.slice(n, n + 4)
        all.set(String(id), { from: Number(from), to: Number(to), at: String(at) })
      }
    }
    return all
  }
  return {
    chunks,
    of(commandId) {
      if (chunks.length === 0) return undefined
      traces ??= read()
      return traces.get(commandId)
    },
  }
}

const NONE: Receipts = { added: PersistentMap(), kept: parseReceipts([]) }

/** A memory of no command. */
export const NO_COMMANDS: ProcessedCommands = { newer: NONE, older: NONE, since: null }

const receiptIn = ({ added, kept }: Receipts, commandId: string) => added.get(commandId) ?? kept.of(commandId)

/** The memory after an event that a command appended. Pure. */
export function recordCommand(
  { newer: filling, older, since }: ProcessedCommands,
  commandId: string,
  revision: number,
  at: string,
): ProcessedCommands {
  const full = since !== null && Date.parse(at) - Date.parse(since) >= COMMAND_DEDUPLICATION_MS
  const newer = full ? NONE : filling
  // The events of one handling share their instant and stand together; the same id a day later is another handling.
  const known = newer.added.get(commandId)
  const from = known?.at === at ? known.from : revision
  return {
    newer: { ...newer, added: newer.added.set(commandId, { from, to: revision, at }) },
    older: full ? filling : older,
    since: full || since === null ? at : since,
  }
}

/** What a command appended, if it is still remembered. */
export function findReceipt(
  { newer, older }: ProcessedCommands,
  commandId: string,
  now: string,
): CommandReceipt | null {
  const trace = receiptIn(newer, commandId) ?? receiptIn(older, commandId)
  return trace && Date.parse(now) - Date.parse(trace.at) < COMMAND_DEDUPLICATION_MS ? trace : null
}

function chunksOf({ added, kept }: Receipts): readonly string[] {
  if (added.isEmpty()) return kept.chunks
  const flat: Flat = [...added].flatMap(([id, { from, to, at }]) => [id, from, to, at])
  return [...kept.chunks, JSON.stringify(flat)]
}

/** The memory as plain JSON. */
export function serializeCommands({ newer, older, since }: ProcessedCommands): SerializedCommands {
  return { newer: chunksOf(newer), older: chunksOf(older), since }
}

/** The memory that was cached. */
export function deserializeCommands({ newer, older, since }: SerializedCommands): ProcessedCommands {
  return { newer: { ...NONE, kept: parseReceipts(newer) }, older: { ...NONE, kept: parseReceipts(older) }, since }
}
