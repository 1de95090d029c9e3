import { readdir, readFile } from 'node:fs/promises'

const tests = new URL('../../', import.meta.url)

/** The document lines that tests name as arguments of the `marker` function. */
export async function linesNamedBy(marker: string): Promise<ReadonlySet<string>> {
  const files = (await readdir(tests, { recursive: true })).filter((file) => file.endsWith('.test.ts'))
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, tests), 'utf8')))
  const named = new RegExp(String.raw`\b${marker}\(\s*(['"${'`'}])(.*?)\1`, 'g')
  return new Set(texts.flatMap((text) => [...text.matchAll(named)].map(([, , line]) => line ?? '')))
}
