/**
 * A function that remembers its results by its one text argument. Arguments come from requests, so memory is bounded:
 * past `max` results all are forgotten. A call that throws is not remembered.
 */
export function memoize<Result>(compute: (text: string) => Result, max: number): (text: string) => Result {
  const results = new Map<string, { readonly value: Result }>()
  return (text) => {
    const hit = results.get(text)
    if (hit) return hit.value
    const value = compute(text)
    if (results.size >= max) results.clear()
    results.set(text, { value })
    return value
  }
}
