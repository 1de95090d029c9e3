/** What a finding is about: an event, or a document of a read model. */
export interface FindingPlace {
  readonly stream?: string
  readonly revision?: number
  readonly model?: string
  readonly id?: string
}

/** Something that is not as it must be, as one sentence. */
export interface Finding extends FindingPlace {
  /** Name of the check that found it. */
  readonly check: string
  readonly sentence: string
}

/** Findings in full, at most; the rest are counted. */
export const MAX_FINDINGS = 100

/** Findings so far, and their number by check. */
export interface Findings {
  readonly add: (finding: Finding) => void
  readonly list: () => readonly Finding[]
  readonly total: () => number
  readonly byCheck: () => Readonly<Record<string, number>>
}

/** Collects findings: the first ones in full, of every check at least one. */
export function createFindings(): Findings {
  const kept: Finding[] = []
  const counts = new Map<string, number>()
  return {
    add(finding) {
      const before = counts.get(finding.check) ?? 0
      counts.set(finding.check, before + 1)
      if (kept.length < MAX_FINDINGS || before === 0) kept.push(finding)
    },
    list: () => kept,
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    byCheck: () => Object.fromEntries(counts),
  }
}
