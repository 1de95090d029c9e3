/** A rule's verdict on one field: a sentence, or null when the field is well. */
export type Problem = readonly [field: string, problem: string | null]

/** The problems that there are, by field; null when there is none. */
export function problemsOf(rules: readonly Problem[]): Readonly<Record<string, string>> | null {
  const found = rules.flatMap(([field, problem]) => (problem === null ? [] : [[field, problem] as const]))
  return found.length === 0 ? null : Object.fromEntries(found)
}

/** Characters of what was sent that a sentence repeats. */
const QUOTED = 24

/** What was sent, as a sentence repeats it. */
export function excerpt(sent: string): string {
  return sent.length > QUOTED ? `${sent.slice(0, QUOTED)}…` : sent
}
