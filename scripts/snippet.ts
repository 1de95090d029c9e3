import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

/** The page snippet as it is served. */
export const SNIPPET_PATH = join(import.meta.dirname, '../src/adapters/http/pages/svcdni.js')

/** Builds the page snippet from `src/snippet`: one script without dependencies, for browsers from 2018 on. */
export async function buildSnippet(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: join(import.meta.dirname, '..'),
    entryPoints: ['src/snippet/main.ts'],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2018',
    charset: 'ascii',
    legalComments: 'none',
    // What is checked by its own settings is not built by those of the platform.
    tsconfigRaw: {},
  })
  const [script] = outputFiles
  if (script === undefined) throw new Error('The build has no script.')
  return script.text
}

if (import.meta.main) {
  const { gzipSync } = await import('node:zlib')
  const script = await buildSnippet()
  const before = await readFile(SNIPPET_PATH, 'utf8').catch(() => '')
  await writeFile(SNIPPET_PATH, script)
  console.log(
    `${script.length} bytes, ${gzipSync(script).length} gzipped, ${script === before ? 'unchanged' : 'written'}`,
  )
}
