import { type DestinationStream, type Logger, pino } from 'pino'
import { redactSecrets } from '../../kernel/redact-secrets.ts'

/** What must not reach a log line, however it got into it: full phone numbers, and secrets by their fields (`withoutSecrets`: by their prefixes). */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/(?:\+|%2B)\d{3,11}(\d{4})(?!\d)/gi, '+•••$1'],
  [/"(authorization|password|token|secret)":"(?:[^"\\]|\\.)*"/gi, '"$1":"•••"'],
  [/\b(Bearer|Basic) +[^\s"\\]+/gi, '$1 •••'],
]

/** What every scrub begins with: a line without it is clean, which is most of them. */
const suspectPattern =
  /\+|%2B|(?:live|test|sess|whsec|pk|rk|rks|ct)_|"(?:authorization|password|token|secret)"|bearer |basic /i

/** A log line without phone numbers and secrets. */
export function scrub(line: string): string {
  return suspectPattern.test(line)
    ? replacements.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), redactSecrets(line))
    : line
}

/** Opens the process's log: one JSON line for each entry, to `stream` (standard output by default). */
export function openLogger({ level, stream }: { readonly level: string; readonly stream?: DestinationStream }): Logger {
  const options = { level, base: null, hooks: { streamWrite: scrub } }
  return stream ? pino(options, stream) : pino(options)
}
