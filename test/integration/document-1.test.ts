import { describe, expect, test } from 'vitest'
import { endpoints, errorRows, laterLimits, limitRows } from '../support/e2e/document-1.ts'
import { linesNamedBy } from '../support/e2e/named-lines.ts'

describe('Document 1', () => {
  test.each([
    ['endpoint heading', endpoints],
    ['row of the tables of errors', errorRows],
    [
      'row of the table of limits, but those of what is not built yet',
      limitRows.filter((row) => !laterLimits.has(row)),
    ],
  ] as const)('has a test of its name for every %s', async (_kind, lines) => {
    const known = await linesNamedBy('documentLine')
    expect(lines.filter((line) => !known.has(line))).toEqual([])
  })

  test('has none for what is not built yet, so that the list of it cannot outlive it', async () => {
    const known = await linesNamedBy('documentLine')
    expect([...laterLimits].filter((line) => known.has(line))).toEqual([])
  })
})
