import { describe, expect, test } from 'vitest'
import { attribution, callStatus, skipReason, unroutedReason } from '../../src/domain/shared/call-codes.ts'
import { attributionRows, endRows, laterCodes, skipRows, unroutedRows } from '../support/e2e/document-2.ts'
import { linesNamedBy } from '../support/e2e/named-lines.ts'

const codesOf = (rows: readonly string[]) => rows.map((row) => row.slice(row.indexOf(' ') + 1))

describe('Document 2', () => {
  test.each([
    ['unrouted reason', unroutedRows],
    ['skip reason', skipRows],
    ['status that a call ends with', endRows],
    ['attribution', attributionRows],
  ] as const)('has a test of its name for every %s, but those of what is not built yet', async (_kind, rows) => {
    const known = await linesNamedBy('documentCode')
    expect(rows.filter((row) => !known.has(row) && !laterCodes.has(row))).toEqual([])
  })

  test('has none for what is not built yet, so that the list of it cannot outlive it', async () => {
    const known = await linesNamedBy('documentCode')
    expect([...laterCodes].filter((row) => known.has(row))).toEqual([])
  })

  test('names the codes that the platform gives, in its order', () => {
    expect(codesOf(unroutedRows)).toEqual(unroutedReason.options)
    expect(codesOf(skipRows)).toEqual(skipReason.options)
    expect(codesOf(attributionRows)).toEqual(attribution.options)
    expect(callStatus.options).toEqual(expect.arrayContaining(codesOf(endRows)))
  })
})
