/** A value of a CSV row; null is an empty cell. */
export type Cell = string | number | boolean | null

/**
 * Where a spreadsheet would begin a formula: at the beginning of the text, and behind what separates cells or rows for a
 * reader that expects `;` or tabs, since such a reader takes no quote inside a cell for one.
 */
const FORMULA = /^(?=[=+\-@＝＋－＠\t\r\n])|(?<=[;\t\r\n])(?="*[=+\-@＝＋－＠])/g
/** Text without any of these characters holds no formula and no quote. */
const SPECIAL = /[=+\-@＝＋－＠\t\r\n"]/

/** Byte order mark: tells spreadsheets that the file is UTF-8. */
export const BOM = '\uFEFF'

/** The media type of a file with its header row. */
export const CSV_MEDIA_TYPE = 'text/csv; charset=utf-8; header=present'

/** A value as CSV: text in quotes, with an apostrophe in front of what reads as a formula (Supplement 1.12). */
export function csvCell(value: Cell): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  return SPECIAL.test(value) ? `"${value.replace(FORMULA, "'").replaceAll('"', '""')}"` : `"${value}"`
}

/** End of a row (RFC 4180). */
export const LINE_END = '\r\n'

/** One row with its line end (RFC 4180). Text cannot become a formula; numbers stay numbers (Supplement 1.12). */
export function csvRow(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',') + LINE_END
}

/** A column: its heading, and how its cell is computed from a record. */
export interface CsvColumn<Row> {
  readonly heading: string
  readonly of: (row: Row) => Cell
}

const encoder = new TextEncoder()

/** The beginning of a file: byte order mark and headings, which are names of ours and need no quotes. */
export function csvHeader(columns: readonly Pick<CsvColumn<never>, 'heading'>[]): Uint8Array {
  return encoder.encode(`${BOM}${columns.map(({ heading }) => heading).join(',')}${LINE_END}`)
}

/** The rows of a batch of records, each with its line end. */
export function csvRows<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): Uint8Array {
  let lines = ''
  for (const row of rows) {
    let separator = ''
    for (const { of } of columns) {
      lines += separator + csvCell(of(row))
      separator = ','
    }
    lines += LINE_END
  }
  return encoder.encode(lines)
}
