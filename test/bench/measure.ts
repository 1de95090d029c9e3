/** What a figure must reach: a share of its ceiling, or at most a multiple of it. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** A figure beside its ceiling, measured in turn in the same run. */
export interface Figure {
  readonly name: string
  /** What both are counted in, such as `appends/s`. */
  readonly unit: string
  /** Medians over the pairs. */
  readonly ours: number
  readonly ceiling: number
  /** Median of the pairs' ratios, and the least and the greatest of them. */
  readonly ratio: number
  readonly range: readonly [number, number]
  readonly goal: Goal
}

/** One pair of measurements. */
export interface Pair {
  readonly ours: number
  readonly ceiling: number
}

const PAIRS = 5

/** The middle of the values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? at(sorted, middle) : (at(sorted, middle - 1) + at(sorted, middle)) / 2
}

const at = (values: readonly number[], index: number): number => values[index] ?? Number.NaN

/** A figure of pairs. */
export function figureOf(name: string, unit: string, goal: Goal, pairs: readonly Pair[]): Figure {
  const ratios = pairs.map(({ ours, ceiling }) => ours / ceiling)
  return {
    name,
    unit,
    ours: median(pairs.map(({ ours }) => ours)),
    ceiling: median(pairs.map(({ ceiling }) => ceiling)),
    ratio: median(ratios),
    range: [Math.min(...ratios), Math.max(...ratios)],
    goal,
  }
}

/** Measures in pairs, ours and the ceiling in turn, after one pair that only warms both up. */
export async function alternate(ours: () => Promise<number>, ceiling: () => Promise<number>): Promise<readonly Pair[]> {
  const pairs: Pair[] = []
  for (let n = 0; n <= PAIRS; n++) pairs.push({ ceiling: await ceiling(), ours: await ours() })
  return pairs.slice(1)
}

/** Seconds that work takes. */
export async function secondsOf(work: () => unknown): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1_000
}

/** Whether a figure reaches what it must. */
export function isReached({ ratio, goal }: Figure): boolean {
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
}
