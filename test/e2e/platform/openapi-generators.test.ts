import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect } from 'vitest'
import { createApiClient } from '../../support/e2e/api-client.ts'
import { createRecordWorld } from '../../support/e2e/record-world.ts'
import { suite } from '../../support/e2e/suite.ts'

const { it, beforeAll, afterAll, the, server } = suite('OpenAPI generators', createRecordWorld, { stores: 'embedded' })
const ask = createApiClient(() => server.baseUrl, null)

const run = promisify(execFile)
const support = resolve(import.meta.dirname, '../../support/openapi')
const modules = resolve(import.meta.dirname, '../../../node_modules')
const binary = (name: string) => join(modules, '.bin', name)

/** A customer's project: the document, and programs beside what the generators make of it. */
let project = ''

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'ringledger-openapi-'))
  await cp(join(support, 'programs'), project, { recursive: true })
  await symlink(modules, join(project, 'node_modules'))
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  const document = join(project, 'openapi.json')
  await writeFile(document, (await ask('/openapi.json')).text)
  await run(binary('node'), [join(support, 'generate.ts'), document, project])
})

afterAll(() => rm(project, { recursive: true, force: true }))

/** Problems that a linter of the ecosystem finds in a document. */
async function problemsOf(source: string): Promise<readonly string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // As in OpenAPI, a path without parameters is matched before one with them.
      'no-ambiguous-paths': 'off',
      'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
      'no-unused-components': 'error',
      'operation-description': 'error',
      'parameter-description': 'error',
      'tag-description': 'error',
    },
  })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

it.each([
  '',
  '?surface=rest',
  '?surface=console',
  '?surface=portal',
  '?surface=account',
  '?surface=operator',
  '?surface=sandbox',
])('a linter finds nothing in /openapi.json%s', async (query) => {
  const { text } = await ask(`/openapi.json${query}`)
  expect(await problemsOf(text)).toEqual([])
})

it('what two generators make of the document compiles strictly, with programs over it', async () => {
  const { stdout } = await run(binary('tsc'), ['--singleThreaded', '--project', project]).catch(
    (error: { readonly stdout: string }) => error,
  )
  expect(stdout).toBe('')
})

it('a program over generated functions runs against the platform', async () => {
  const { session } = the.main
  const { e164 } = the.roofing
  const { stdout } = await run(binary('node'), [join(project, 'use-client.ts')], {
    env: { ...process.env, BASE_URL: server.baseUrl, SESSION: session, TO: e164 },
  })
  expect(JSON.parse(stdout)).toEqual({
    scopes: ['buyers:read', 'calls:read', 'calls:write'],
    buyers: [{ name: 'Made by a program', dailyCap: 5 }],
    revenueCents: 4_200,
    steps: true,
    sentence: true,
    refused: 'insufficient_scope',
  })
})
