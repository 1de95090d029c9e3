import type { Scalar } from '../../ports/read-store.ts'
import { type Prepare, rowsOf } from './statements.ts'

/** Texts of all collections by code. None is ever removed: a code means the same text in every process, for good. */
export const TEXTS_TABLE = 'CREATE TABLE IF NOT EXISTS texts (code INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)'

/** Codes of values that are no texts. `OTHER`: a number, a list or an object, which the value's own column tells. */
const [TRUE, FALSE, OTHER] = [-1, -2, -3]
/** Texts whose codes are known to a writer. */
const MAX_KNOWN = 50_000

/** Begins the path of a column of codes: no path of a document begins so. */
const MARK = '#'

/** Path of the column that holds the codes of a path's values. */
export function codePath(path: string): string {
  return `${MARK}${path}`
}

/** The path whose values a column's path holds the codes of; null for a column of values. */
export function codedPath(path: string): string | null {
  return path.startsWith(MARK) ? path.slice(MARK.length) : null
}

/** SQL that stores the texts of a column, before `codeSql` is used on it. */
export function addTextsSql(table: string, column: string): string {
  return `INSERT OR IGNORE INTO texts (text) SELECT DISTINCT ${column} FROM ${table} WHERE typeof(${column}) = 'text'`
}

/** SQL of the code of a column's value. */
export function codeSql(column: string): string {
  return `CASE WHEN ${column} IS NULL THEN NULL
    WHEN typeof(${column}) = 'text' THEN (SELECT code FROM texts WHERE text = ${column})
    WHEN ${column} = x'03' THEN ${TRUE} WHEN ${column} = x'02' THEN ${FALSE} ELSE ${OTHER} END`
}

/** Codes of values, which take a third of the time that texts take to read. */
export interface TextCodes {
  /** The code of a value; a new text gets one. Call in a transaction. */
  readonly codeOf: (value: unknown) => number | null
  /** The value of a code; undefined where only its own column tells it. */
  readonly valueOf: (code: number | null) => Scalar | undefined
  /** Call when a transaction was rolled back: the codes that it gave are free. */
  readonly forget: () => void
}

/** Creates the codes as one connection knows them. */
export function createTextCodes(prepare: Prepare): TextCodes {
  const codes = new Map<string, number>()
  const texts: (string | undefined)[] = []

  function storedCode(text: string): number {
    prepare('INSERT OR IGNORE INTO texts (text) VALUES (?)').run(text)
    const [row] = rowsOf<[number]>(prepare('SELECT code FROM texts WHERE text = ?').all(text))
    const code = row?.[0] ?? OTHER
    if (codes.size >= MAX_KNOWN) codes.clear()
    codes.set(text, code)
    return code
  }

  function storedText(code: number): string | undefined {
    const [row] = rowsOf<[string]>(prepare('SELECT text FROM texts WHERE code = ?').all(code))
    while (texts.length <= code) texts.push(undefined)
    texts[code] = row?.[0]
    return texts[code]
  }

  return {
    codeOf(value) {
      if (typeof value === 'string') return codes.get(value) ?? storedCode(value)
      if (value === null || value === undefined) return null
      if (typeof value === 'boolean') return value ? TRUE : FALSE
      return OTHER
    },
    valueOf(code) {
      if (code === null) return null
      if (code > 0) return texts[code] ?? storedText(code)
      if (code === OTHER) return undefined
      return code === TRUE
    },
    forget: () => codes.clear(),
  }
}
