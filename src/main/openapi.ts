import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLogger } from '../adapters/http/logger.ts'
import type { ApiRoute } from '../ports/api.ts'
import { openApp } from './app.ts'
import { readConfig } from './config.ts'

/** The routes of the staff exist only with a token. */
const OPERATOR_TOKEN = 'operator-token-of-the-documentation'

/** Every route and their OpenAPI document, from a process that never listens, over a directory that goes again. */
export async function openApiRoutes(): Promise<{ readonly document: object; readonly routes: readonly ApiRoute[] }> {
  const directory = await mkdtemp(join(tmpdir(), 'ringledger-openapi-'))
  try {
    const app = await openApp(readConfig({ DATA_DIR: directory, OPERATOR_TOKEN }), openLogger({ level: 'silent' }))
    const { routes } = app
    const document = app.openapi()
    await app.close()
    return { document, routes }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The OpenAPI document of every route. */
export async function openApiDocument(): Promise<object> {
  return (await openApiRoutes()).document
}
