import { type DestinationStream, type Logger, pino } from 'pino'
import { scrub } from './scrub.ts'

/** Opens the process's log: one JSON line for each entry, to `stream` (standard output by default). */
export function openLogger({ level, stream }: { readonly level: string; readonly stream?: DestinationStream }): Logger {
  const options = { level, base: null, hooks: { streamWrite: scrub } }
  return stream ? pino(options, stream) : pino(options)
}
