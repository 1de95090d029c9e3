import { readFile, writeFile } from 'node:fs/promises'
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Writes what the generators make of an OpenAPI document: `types.ts` by openapi-typescript and `client.ts` by oazapfts.
 * A process of its own, since openapi-typescript needs the JavaScript API that TypeScript 7 has no more: it gets the
 * TypeScript that oazapfts brings along.
 */
const [documentPath = '', directory = ''] = process.argv.slice(2)

const oazapftsUrl = pathToFileURL(createRequire(import.meta.url).resolve('oazapfts')).href
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'typescript' ? { ...context, parentURL: oazapftsUrl } : context),
})

const document = JSON.parse(await readFile(documentPath, 'utf8'))

const { default: typesOf, astToString } = await import('openapi-typescript')
await writeFile(join(directory, 'types.ts'), astToString(await typesOf(document)))

const { generateSource } = await import('oazapfts')
await writeFile(
  join(directory, 'client.ts'),
  await generateSource(documentPath, { argumentStyle: 'object', futureStripLegacyMethods: true }),
)
