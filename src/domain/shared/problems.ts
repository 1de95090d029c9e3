/** The result of a rule on one field: a sentence that says what is wrong, or null. */
export type Problem = readonly [field: string, problem: string | null]

/** The sentences of failed rules by field, the last one of a field; null when every rule passes. */
export function problemsOf(rules: readonly Problem[]): Readonly<Record<string, string>> | null {
  const found = rules.flatMap(([field, problem]) => (problem === null ? [] : [[field, problem] as const]))
  return found.length === 0 ? null : Object.fromEntries(found)
}
