/** A share to four places; null when the whole is 0 (Supplement 1.16). */
export function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000
}
