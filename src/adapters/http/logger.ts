import { type DestinationStream, type Logger, pino } from 'pino'
import { redactSecrets } from '../../kernel/redact-secrets.ts'

/** Patterns that must not reach a log line: full phone numbers, and secrets by their fields (`redactSecrets`: by their prefixes). */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/(?:\+|%2B)\d{3,11}(\d{4})(?!\d)/gi, '+•••$1'],
  [/"(authorization|password|token|secret)":"(?:[^"\\]|\\.)*"/gi, '"$1":"•••"'],
  [/\b(Bearer|Basic) +[^\s"\\]+/gi, '$1 •••'],
]

/** Matches every line that may need scrubbing; most lines do not match. */
const suspectPattern =
  /\+|%2B|(?:live|test|sess|whsec|pk|rk|rks|ct)_|"(?:authorization|password|token|secret)"|bearer |basic /i

/** Removes phone numbers and secrets from a log line. */
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
