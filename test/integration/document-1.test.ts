import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { endpoints, errorRows, laterLimits, limitRows } from '../support/document-1.ts'

const tests = new URL('../', import.meta.url)

/** The lines that some test names. */
async function named(): Promise<ReadonlySet<string>> {
  const files = (await readdir(tests, { recursive: true })).filter((file) => file.endsWith('.test.ts'))
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, tests), 'utf8')))
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/promised\(\s*(['"`])(.*?)\1/g)].map(([, , line]) => line ?? '')),
  )
}

describe('Document 1', () => {
  test.each([
    ['endpoint heading', endpoints],
    ['row of the tables of errors', errorRows],
    [
      'row of the table of limits, but those of what is not built yet',
      limitRows.filter((row) => !laterLimits.has(row)),
    ],
  ] as const)('has a test of its name for every %s', async (_kind, lines) => {
    const known = await named()
    expect(lines.filter((line) => !known.has(line))).toEqual([])
  })

  test('has none for what is not built yet, so that the list of it cannot outlive it', async () => {
    const known = await named()
    expect([...laterLimits].filter((line) => known.has(line))).toEqual([])
  })
})
