import { callTexts } from './field-texts/calls.ts'
import { configurationTexts } from './field-texts/configuration.ts'
import { deliveryTexts } from './field-texts/delivery.ts'
import type { FieldText, FieldTexts } from './field-texts/field-text.ts'
import { insertionTexts } from './field-texts/insertion.ts'
import { pingTexts } from './field-texts/pings.ts'
import { reportingTexts } from './field-texts/reporting.ts'
import { reportTexts } from './field-texts/reports.ts'
import { sandboxTexts } from './field-texts/sandbox.ts'
import { sharedTexts } from './field-texts/shared.ts'

/** The tables by subject; a key has one text. */
export const fieldTextTables: readonly FieldTexts[] = [
  sharedTexts,
  configurationTexts,
  callTexts,
  pingTexts,
  sandboxTexts,
  deliveryTexts,
  insertionTexts,
  reportingTexts,
  reportTexts,
]

/** Texts of fields and parameters; a field whose schema has a name is described by that. */
export const fieldTexts: FieldTexts = Object.assign({}, ...fieldTextTables)

/** Text of a field: that of the longest end of its place (`Call.frozen.revenueCents`, `frozen.revenueCents`, `revenueCents`). */
export function fieldTextOf(place: readonly string[]): FieldText | undefined {
  for (let from = 0; from < place.length; from += 1) {
    const key = place.slice(from).join('.')
    if (Object.hasOwn(fieldTexts, key)) return fieldTexts[key]
  }
  return undefined
}
