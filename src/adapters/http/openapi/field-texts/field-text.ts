/** Description of a field or parameter, and an example of its value. */
export type FieldText = readonly [description: string, example?: unknown]

/**
 * Texts of fields and parameters. A key is a name, or the end of a place that tells it apart from others of the name:
 * `Target.status`, `list-calls query.from`. Amounts are cents, durations seconds, instants ISO 8601 in UTC.
 */
export type FieldTexts = Readonly<Record<string, FieldText>>
