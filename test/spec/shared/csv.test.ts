import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BOM, csvHeader, csvRow, csvRows } from '../../../src/domain/shared/csv.ts'

/** The cells of a file for a reader that separates them by `separator`: a quote counts at the beginning of a cell alone. */
function cellsBy(separator: string, text: string): readonly string[] {
  const cells: string[] = []
  for (let at = 0; at < text.length; ) {
    const quoted = text[at] === '"' ? (/^"(?:[^"]|"")*"?/.exec(text.slice(at))?.[0] ?? '') : ''
    const rest = /^[^\r\n]*/.exec(text.slice(at + quoted.length))?.[0].split(separator, 1)[0] ?? ''
    cells.push(quoted.slice(1).replace(/"$/, '').replaceAll('""', '"') + rest)
    at += quoted.length + rest.length + 1
  }
  return cells
}

describe('a CSV row', () => {
  it('separates cells by commas, ends with CRLF, and writes null as an empty cell', () => {
    expect(csvRow(['a', null, 1, true])).toBe('"a",,1,true\r\n')
  })

  it.each([
    'a',
    'a-b',
    '1=1',
    ' =1',
    'a;b',
    'a; =b',
    'text/html;q=0.9',
    'Zoë 日本',
    '',
    '12',
    'true',
    "'",
    'a,b',
    'one\ntwo',
  ])('quotes %j, and leaves it otherwise as it is', (text) => {
    expect(csvRow([text])).toBe(`"${text}"\r\n`)
  })

  it('doubles quotes', () => {
    expect(csvRow(['say "hi"', '"'])).toBe('"say ""hi""",""""\r\n')
  })

  it.each(['=1+1', '+13105550123', '-5', '@cmd', '＝1+1', '＋1', '－5', '＠cmd', '\tx', '\rx', '\nx', '\t=1'])(
    'puts an apostrophe in front of %j, so that it is no formula',
    (text) => {
      expect(csvRow([text])).toMatch(/^"'/)
      expect(csvRow([text]).replaceAll("'", '')).toBe(`"${text}"\r\n`)
    },
  )

  it.each([
    ['a;=1+1', "a;'=1+1"],
    ['a;"=1+1', 'a;\'"=1+1'],
    ['a\n=1;\t－2', "a\n'=1;\t'－2"],
    ['a;;+1', "a;;'+1"],
  ])('puts an apostrophe into %j, which would begin a cell where `;` or a tab separates cells', (text, guarded) => {
    expect(csvRow([text])).toBe(`"${guarded.replaceAll('"', '""')}"\r\n`)
  })

  it('holds no formula for any reader, whatever separates its cells', () => {
    const hostile = fc.string({ unit: fc.constantFrom(...'=+-@＝＋－＠;,\t\r\n"\'a1 ') })
    fc.assert(
      fc.property(
        fc.array(hostile, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(',', ';', '\t'),
        (texts, separator) => {
          for (const cell of cellsBy(separator, csvRow(texts))) expect(cell).not.toMatch(/^[=+\-@＝＋－＠]/)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('leaves numbers unquoted, including negative ones', () => {
    expect(csvRow([-500, 0, 12.5, false])).toBe('-500,0,12.5,false\r\n')
  })
})

describe('a CSV file', () => {
  it('begins with the byte order mark and the headings, even without records', () => {
    const columns = [
      { heading: 'name', of: ({ name }: { readonly name: string }) => name },
      { heading: 'length', of: ({ name }: { readonly name: string }) => name.length },
    ]
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    const fileOf = (...batches: readonly (readonly { readonly name: string }[])[]) =>
      [csvHeader(columns), ...batches.map((rows) => csvRows(columns, rows))]
        .map((part) => decoder.decode(part))
        .join('')
    expect(fileOf()).toBe(`${BOM}name,length\r\n`)
    expect(fileOf([{ name: 'a' }, { name: '=b' }], [{ name: 'c' }])).toBe(
      `${BOM}name,length\r\n"a",1\r\n"'=b",2\r\n"c",1\r\n`,
    )
  })
})
