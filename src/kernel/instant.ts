/** How many texts are remembered: what is recorded in a burst shares its instants. */
const REMEMBERED = 256

const instants = new Float64Array(REMEMBERED).fill(Number.NaN)
const texts = new Array<string>(REMEMBERED).fill('')

/** An instant (ms since the epoch) as it is stored and sent: ISO 8601, UTC, milliseconds. @throws RangeError for no instant */
export function instantText(ms: number): string {
  const place = ms % REMEMBERED
  const known = texts[place]
  if (known !== undefined && instants[place] === ms) return known
  const text = new Date(ms).toISOString()
  if (Number.isSafeInteger(ms) && ms >= 0) {
    instants[place] = ms
    texts[place] = text
  }
  return text
}

/** Adds milliseconds to an instant (ISO 8601). @throws RangeError for no instant */
export const addMs = (instant: string, ms: number): string => instantText(Date.parse(instant) + ms)
