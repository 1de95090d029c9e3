import { QUALITY } from '../shared/limits.ts'

/** A publisher's score, 0 to 100, over the calls of its last thirty days; null on too few (Supplement §4). */
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
