/** A value of a CSV row; null leaves its cell empty. */
export type Cell = string | number | boolean | null

/** A spreadsheet takes text that begins with one of these for a formula. */
const FORMULA = /^[=+\-@\t\r\n]/
const NEEDS_QUOTES = /[",\r\n]/

/** What begins a file: by it spreadsheets know that the text is UTF-8. */
export const BOM = '\uFEFF'

/** The media type of a file with its header row. */
export const CSV_TYPE = 'text/csv; charset=utf-8; header=present'

function cellOf(value: Cell): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const safe = FORMULA.test(value) ? `'${value}` : value
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** One row with its line end (RFC 4180). Text is kept from being taken for a formula; numbers stay numbers (Supplement 1.12). */
export function csvRow(cells: readonly Cell[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

/** A column: its heading, and its cell of each record. */
export interface Column<Row> {
  readonly heading: string
  readonly of: (row: Row) => Cell
}

/** A file in parts, made while they are sent: the byte order mark, the headings, then each batch of records. */
export async function* csvFile<Row>(
  columns: readonly Column<Row>[],
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(`${BOM}${csvRow(columns.map(({ heading }) => heading))}`)
  for await (const rows of batches) {
    yield encoder.encode(rows.map((row) => csvRow(columns.map(({ of }) => of(row)))).join(''))
  }
}
