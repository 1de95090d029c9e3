import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { runScript, startExpectingFailure } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }), { name: 'Desk' })
  return { main, target, line: await main.line({ name: 'Solar' }, [target]) }
}

const { it, main, the, server } = suite('a log older than the read models', world, { stores: 'embedded', env: {} })

const REFUSED =
  /: The event log ends at position -?\d+, and the read models were built to position \d+: this log is older than the read store, or another one\. Restore the newer log, or name an empty read store\.\n$/
const STORES = ['events.db', 'views.db', 'views.ops.db']

const file = (name: string) => join(server.dataDir, name)
const contents = () =>
  STORES.map((name) => [
    name,
    createHash('sha256')
      .update(readFileSync(file(name)))
      .digest('hex'),
  ])

/** Puts a copy of the log in its place; null for no log. */
function replaceLog(copy: string | null): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file(`events.db${suffix}`), { force: true })
  if (copy !== null) copyFileSync(copy, file('events.db'))
}

it('ends the start and the rebuild with one sentence, and neither writes to a store', async () => {
  const [earlier, newest] = ['earlier.db', 'newest.db'].map(file) as [string, string]
  await server.stop()
  copyFileSync(file('events.db'), earlier)
  await server.restart()
  const { call } = await main.playCall({ to: the.line.e164, script: { [the.target]: answerScript(90) } })
  await server.stop()
  copyFileSync(file('events.db'), newest)

  replaceLog(earlier)
  const before = contents()
  const started = await startExpectingFailure(server.env)
  expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(REFUSED)])
  expect(started.stderr).toMatch(/^Ringledger cannot start: [^\n]+\n$/)
  const rebuilt = await runScript(server.env, 'rebuild', '--all')
  expect([rebuilt.code, rebuilt.stderr]).toEqual([1, expect.stringMatching(REFUSED)])
  expect(contents()).toEqual(before)

  replaceLog(newest)
  await server.restart()
  expect((await main.readCall(call.id)).call.status).toBe('completed')
})

it('ends the start where the log is empty, and gives it no first event', async () => {
  await server.stop()
  replaceLog(null)
  for (const again of [1, 2]) {
    const { code, stderr } = await startExpectingFailure(server.env)
    expect([again, code, stderr]).toEqual([again, 1, expect.stringMatching(/ends at position -1, .*\n$/)])
  }
})

it('is built from again over an empty read store', async () => {
  for (const name of ['views.db', 'views.ops.db'])
    for (const suffix of ['', '-wal', '-shm']) rmSync(file(`${name}${suffix}`), { force: true })
  replaceLog(file('earlier.db'))
  await server.restart()
  const { call } = await main.playCall({ to: the.line.e164, script: { [the.target]: answerScript(90) } })
  expect(call.status).toBe('completed')
})
