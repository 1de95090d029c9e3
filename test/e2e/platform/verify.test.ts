import { readdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { callLog } from '../../../projections/calls/call-log.ts'
import { readConfig } from '../../../src/main/config.ts'
import { openReadStore } from '../../../src/main/stores.ts'
import type { StoredDocument } from '../../../src/ports/read-store.ts'
import { readActiveCollections } from '../../../src/runtime/projections/build-alias.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import type { Finding } from '../../../src/verify/finding.ts'
import type { VerifyReport } from '../../../src/verify/verify.ts'
import { runScript, startScript, waitUntil } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'
import { documentWrite } from '../../support/fixtures/documents.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }), { name: 'Desk' })
  return { main, target, line: await main.line({ name: 'Solar' }, [target]) }
}

const { it, main, the, server, setup } = suite('npm run verify', world, { env: {} })

const playCall = () =>
  main.playCall({ to: the.line.e164, script: { [the.target]: [{ result: 'answer', talkSeconds: 90 }] } })

async function verify(): Promise<{ readonly code: number | null; readonly report: VerifyReport }> {
  const { code, stdout, stderr } = await runScript(server.env, 'verify', '--json')
  expect(stderr).toBe('')
  return { code, report: JSON.parse(stdout) }
}

/** Findings about the suite's own workspace: the servers of the tests hold what other suites have planted. */
const own = (findings: readonly Finding[], ids: readonly string[]) =>
  findings.filter(({ sentence }) => ids.some((id) => sentence.includes(id)))

it('finds nothing beside a platform that plays calls', async () => {
  const calls = [(await playCall()).call.id]
  let checked = false
  const checking = verify().finally(() => {
    checked = true
  })
  while (!checked) calls.push((await playCall()).call.id)
  const { code, report } = await checking
  expect(own(report.findings, [the.main.workspaceId, ...calls])).toEqual([])
  if (setup.name === 'SQLite') expect([code, report.total, report.notes]).toEqual([0, 0, []])
  expect(report.events).toBeGreaterThan(20)
  if (setup.name === 'SQLite') expect(report.models).toBeGreaterThan(30)
})

it('names a document of a read model that was changed', async () => {
  const { call } = await playCall()
  const store = await openReadStore(readConfig(server.env).readStoreUrl)
  const collection = (await readActiveCollections(store, [callLog])).get(callLog.name) ?? ''
  const { workspaceId } = the.main
  const put = ({ doc, position }: StoredDocument, by: number) =>
    store.commit([documentWrite(collection, { id: call.id, doc, workspaceId }, position + by)], {
      name: `tampering ${crypto.randomUUID()}`,
      expected: null,
      next: { position: 0, at: null },
    })
  const changed = (doc: StoredDocument['doc']) => ({ ...doc, revenueCents: 123_456 })
  /** Checks the stores with the call's document changed; null where a later event of the call was folded over the change. */
  async function verifyChanged() {
    const stored = await store.get(collection, call.id)
    if (stored === null) return null
    await put({ ...stored, doc: changed(stored.doc) }, 0.25)
    const checked = await verify()
    const isStill = isDeepStrictEqual((await store.get(collection, call.id))?.doc, changed(stored.doc))
    await put(stored, 0.5)
    return isStill ? checked : null
  }
  const { code, report } = await waitUntil('The changed document is checked', verifyChanged)
  await store.close()
  expect(code).toBe(1)
  // What other suites have planted on the servers may keep the model from being compared, or fill the report.
  const isWhole = report.total === report.findings.length && !report.notes.some((note) => note.includes(callLog.name))
  expect(isWhole || setup.name !== 'SQLite').toBe(true)
  if (!isWhole) return
  expect(own(report.findings, [call.id])).toEqual([
    {
      check: 'read-models',
      model: 'call-log',
      id: call.id,
      sentence: `Document ${call.id} of read model call-log differs from its rebuild in "revenueCents".`,
    },
  ])
})

it('leaves nothing behind that matters when it is killed, and the next one cleans up', async () => {
  const scratch = () => readdirSync(server.dataDir).filter((name) => name.startsWith('verify-'))
  const { child, result } = startScript(server.env, 'verify')
  await waitUntil('The check has begun', async () => scratch().length > 0)
  child.kill('SIGKILL')
  await result
  expect(scratch()).toHaveLength(1)
  const { call } = await playCall()
  expect(own((await verify()).report.findings, [the.main.workspaceId, call.id])).toEqual([])
  expect(scratch()).toEqual([])
})

it('finds nothing after rebuilds were killed, and the same rebuild ends', async () => {
  const { call } = await playCall()
  /** What it shows but for its usage, which is charged some minutes after its end. */
  const { id, ref, status, outcome, target, revenueCents, payoutCents } = call
  const shown = { id, ref, status, outcome, target, revenueCents, payoutCents }
  for (let kill = 0; kill < 3; kill += 1) {
    const { child, output, result } = startScript(server.env, 'rebuild', '--all')
    await waitUntil('The rebuild has begun', async () => output.stderr.includes('events') || child.exitCode !== null)
    child.kill('SIGKILL')
    await result
    expect((await main.rest(`/api/v1/calls/${id}`)).body.call).toMatchObject(shown)
  }
  const { code, stdout, stderr } = await runScript(server.env, 'rebuild', '--all')
  if (setup.name === 'SQLite')
    expect([code, stderr, stdout]).toEqual([0, expect.anything(), expect.not.stringContaining('differ')])
  expect(stdout).toMatch(/call-log: \d+ documents, the same as before \(sha256 \w{16}\)\./)
  expect((await main.rest(`/api/v1/calls/${id}`)).body.call).toMatchObject(shown)
  expect(own((await verify()).report.findings, [the.main.workspaceId, id])).toEqual([])
})

it.each([[['--jsn']], [['everything']]])('of %j ends with its usage', async (words) => {
  const end = { code: 2, stdout: '', stderr: 'Usage: npm run verify [-- --json]\n' }
  expect(await runScript(server.env, 'verify', ...words)).toEqual(end)
})

it('without an event log ends with a sentence', async () => {
  const missing = `sqlite:${server.dataDir}/nothing/events.db`
  const { code, stdout, stderr } = await runScript({ ...server.env, EVENT_LOG_URL: missing }, 'verify', '--json')
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^The check could not be made: There is no event log at \S+nothing\/events\.db\.\n$/)
})
