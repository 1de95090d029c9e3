import { describe, expect, it } from 'vitest'
import { BOM, csvHeader, csvRow, csvRows } from '../../../src/domain/shared/csv.ts'

describe('a CSV row', () => {
  it('separates cells by commas, ends with CRLF, and writes null as an empty cell', () => {
    expect(csvRow(['a', null, 1, true])).toBe('a,,1,true\r\n')
  })

  it('quotes text with a comma, a quote or a line end, and doubles quotes', () => {
    expect(csvRow(['a,b', 'say "hi"', 'one\ntwo', 'one\r\ntwo'])).toBe('"a,b","say ""hi""","one\ntwo","one\r\ntwo"\r\n')
  })

  it.each(['=1+1', '+13105550123', '-5', '@cmd', '\tx', '\rx', '\nx'])(
    'prefixes %j so that it is no formula',
    (text) => {
      const row = csvRow([text])
      expect(row.replace(/^"/, '')[0]).toBe("'")
      expect(row).toContain(text)
    },
  )

  it('leaves numbers unquoted, including negative ones', () => {
    expect(csvRow([-500, 0, 12.5, false])).toBe('-500,0,12.5,false\r\n')
  })

  it('leaves other text unchanged', () => {
    expect(csvRow(['a-b', '1=1', ' =1', 'Zoë 日本', ''])).toBe('a-b,1=1, =1,Zoë 日本,\r\n')
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
      `${BOM}name,length\r\na,1\r\n'=b,2\r\nc,1\r\n`,
    )
  })
})
