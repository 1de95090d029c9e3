import { QUALITY } from '../shared/limits.ts'

/** A publisher's quality score, 0 to 100, over its calls of the last 30 days; null below `QUALITY.calls` calls (Supplement §4). */
export function qualityScore({
  calls,
  connected,
  converted,
}: {
  readonly calls: number
  readonly connected: number
  readonly converted: number
}): number | null {
  if (calls < QUALITY.calls) return null
  const conversion = connected === 0 ? 0 : converted / connected
  return Math.round(100 * (0.6 * (connected / calls) + 0.4 * conversion))
}
