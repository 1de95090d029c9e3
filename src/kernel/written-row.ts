const encoder = new TextEncoder()

/** The JSON of a list's row, as a response carries it after a comma. It is kept instead of the row, which takes several times the memory. */
export class WrittenRow<Row> {
  /** Of whose rows it is one, for the compiler alone. */
  declare private readonly row: Row
  readonly bytes: Uint8Array

  constructor(row: Row) {
    this.bytes = encoder.encode(`,${JSON.stringify(row)}`)
  }
}

/** An answer whose rows may be written already. */
export type WithWrittenRows<Answer> = Answer extends { readonly data: readonly (infer Row)[] }
  ? Omit<Answer, 'data'> & { readonly data: readonly (Row | WrittenRow<Row>)[] }
  : Answer
