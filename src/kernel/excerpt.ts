/** Characters of an input that a sentence repeats. */
const EXCERPT_MAX = 24

/** The beginning of an input, short enough to be repeated in a sentence. */
export function excerpt(input: string): string {
  return input.length > EXCERPT_MAX ? `${input.slice(0, EXCERPT_MAX)}…` : input
}
