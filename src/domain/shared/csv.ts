/** A value of a CSV row; null leaves its cell empty. */
export type Cell = string | number | boolean | null

/** A spreadsheet takes text that begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r\n]/
const NEEDS_QUOTES = /[",\r\n]/

/** What begins a file: by it spreadsheets know that the text is UTF-8. */
export const BOM = '\uFEFF'

/** The media type of a file with its header row. */
export const CSV_MEDIA_TYPE = 'text/csv; charset=utf-8; header=present'

/** A cell as it stands in a row: text is kept from being taken for a formula, and quoted where it must be. */
export function csvCell(value: Cell): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const safe = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** What every row ends with. */
export const LINE_END = '\r\n'

/** One row with its line end (RFC 4180). Text is kept from being taken for a formula; numbers stay numbers (Supplement 1.12). */
export function csvRow(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',') + LINE_END
}

/** A column: its heading, and its cell of each record. */
export interface CsvColumn<Row> {
  readonly heading: string
  readonly of: (row: Row) => Cell
}

const encoder = new TextEncoder()

/** What a file begins with: the byte order mark and the headings. */
export function csvHeader(columns: readonly Pick<CsvColumn<never>, 'heading'>[]): Uint8Array {
  return encoder.encode(`${BOM}${csvRow(columns.map(({ heading }) => heading))}`)
}

/** The lines of some records. */
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
