import {
  createWindowedMap,
  getEntry,
  getNewerEntry,
  setWindowedEntry,
  type WindowedMap,
} from '../../kernel/windowed-map.ts'

/** De-duplication window: how long a repeated commandId returns the result of its first handling (Architecture §3). */
export const COMMAND_DEDUPLICATION_MS = 24 * 3_600_000

/** The revisions that a command appended, and when. */
export interface CommandReceipt {
  readonly from: number
  readonly to: number
  readonly at: string
}

/** Receipts by command id, of the last 24 h at least and 48 h at most. */
export type ProcessedCommands = WindowedMap<CommandReceipt>

/** A memory of no command. */
export const NO_COMMANDS: ProcessedCommands = createWindowedMap()

/** The memory after an event that a command appended. Pure. */
export function recordCommand(
  commands: ProcessedCommands,
  commandId: string,
  revision: number,
  at: string,
): ProcessedCommands {
  // The events of one handling share their instant and stand together; the same id a day later is another handling.
  const known = getNewerEntry(commands, commandId)
  const from = known?.at === at ? known.from : revision
  return setWindowedEntry(commands, commandId, { from, to: revision, at }, at, COMMAND_DEDUPLICATION_MS)
}

/** What a command appended, if it is still remembered. */
export function findReceipt(commands: ProcessedCommands, commandId: string, now: string): CommandReceipt | null {
  const receipt = getEntry(commands, commandId)
  return receipt && Date.parse(now) - Date.parse(receipt.at) < COMMAND_DEDUPLICATION_MS ? receipt : null
}
