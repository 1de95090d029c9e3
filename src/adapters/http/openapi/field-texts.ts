/** Description of a field, and an example of its value. */
export type FieldText = readonly [description: string, example?: unknown]

const fieldTexts: Readonly<Record<string, FieldText>> = {}

/** Text of a field: that of the longest end of its place (`Call.frozen.revenueCents`, `frozen.revenueCents`, `revenueCents`). */
export function fieldTextOf(place: readonly string[]): FieldText | undefined {
  for (let from = 0; from < place.length; from += 1) {
    const key = place.slice(from).join('.')
    if (Object.hasOwn(fieldTexts, key)) return fieldTexts[key]
  }
  return undefined
}
