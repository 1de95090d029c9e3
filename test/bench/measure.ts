import { existsSync, readFileSync } from 'node:fs'

/** What the kernel tells of this process. */
const STATUS = '/proc/self/status'

/** The goal of a figure: at least a share of its ceiling, or at most a multiple of it. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** A figure and its ceiling, measured alternately in one run. */
export interface Figure {
  readonly name: string
  /** The unit of both, such as `appends/s`. */
  readonly unit: string
  /** Medians over the pairs. */
  readonly ours: number
  readonly ceiling: number
  /** Median, least and greatest ratio of the pairs. */
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

/** The median. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? at(sorted, middle) : (at(sorted, middle - 1) + at(sorted, middle)) / 2
}

/** The least value that a share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  return at(
    values.toSorted((a, b) => a - b),
    Math.ceil(values.length * share) - 1,
  )
}

const at = (values: readonly number[], index: number): number => values[index] ?? Number.NaN

/** Summarizes pairs as a figure. */
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

/** Measures ours and the ceiling alternately, after one pair for warm-up. */
export async function alternate(ours: () => Promise<number>, ceiling: () => Promise<number>): Promise<readonly Pair[]> {
  const pairs: Pair[] = []
  for (let n = 0; n <= PAIRS; n++) pairs.push({ ceiling: await ceiling(), ours: await ours() })
  return pairs.slice(1)
}

/** Seconds that a piece of work takes. */
export async function secondsOf(work: () => unknown): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1_000
}

/**
 * Bytes that this process holds for itself, after a collection. Pages of mapped files do not count: they are the kernel's cache,
 * and grow with every file that is read.
 */
export function privateBytes(): number {
  global.gc?.()
  const anonymous = existsSync(STATUS) ? /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(STATUS, 'utf8')) : null
  return anonymous ? Number(anonymous[1]) * 1_024 : process.memoryUsage().rss
}

/** Whether a figure reaches its goal. */
export function isReached({ ratio, goal }: Figure): boolean {
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
}
