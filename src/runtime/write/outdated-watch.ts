import { UnknownEventVersion } from '../../kernel/entity.ts'
import type { StreamWriter } from './stream-writer.ts'

/** A writer that knows whether it met an event that its code is too old to read. */
export interface WatchedWriter extends StreamWriter {
  /** What it met first, in a sentence; null for nothing. Only another version of the code can go on there. */
  readonly outdated: () => string | null
}

/**
 * Writer decorator: remembers that a stream which a command concerns or reads holds an event of an unknown version. Such
 * commands fail, and nothing of that stream is folded.
 */
export function withOutdatedWatch(writer: StreamWriter): WatchedWriter {
  let met: string | null = null
  const watched = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      if (error instanceof UnknownEventVersion) met ??= error.message
      throw error
    }
  }
  return {
    ...writer,
    handle: (command, input, context) => watched(writer.handle(command, input, context)),
    dryRun: (...run) => watched(writer.dryRun(...run)),
    stateOf: (entity, id, workspaceId) => watched(writer.stateOf(entity, id, workspaceId)),
    outdated: () => met,
  }
}
