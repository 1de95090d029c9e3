import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { runScript, startServer } from '../../support/e2e/server.ts'
import { suite } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

async function world(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const target = await main.target(await main.buyer({ name: 'Acme' }), { name: 'Desk' })
  return { main, target, line: await main.line({ name: 'Solar' }, [target]) }
}

const { it, main, the, server } = suite('npm run backup', world, { stores: 'embedded', env: {} })

const beside = (name: string) => join(dirname(server.dataDir), name)
afterEach(() => {
  for (const name of ['backup', 'backup.partial', 'restored', 'restored.partial', 'copy'])
    rmSync(beside(name), { recursive: true, force: true })
})

const call = () => ({ to: the.line.e164, script: { [the.target]: answerScript(90) } })
const backUp = () => runScript(server.env, 'backup', beside('backup'))
const restored = () => ({ ...server.env, DATA_DIR: beside('restored') })
const restore = (from = beside('backup')) => runScript(restored(), 'backup', '--restore', from)

it('copies the stores of a platform that plays calls, and what is restored is whole and goes on', async () => {
  const before = await main.playCall(call())
  let copied = false
  const copying = backUp().finally(() => {
    copied = true
  })
  while (!copied) await main.playCall(call())
  const { code, stdout, stderr } = await copying
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/^events\.db: .*\n(.*\n)+The backup is complete\.\n$/)
  expect(readdirSync(beside('backup')).toSorted()).toEqual([
    'backup.json',
    'events.db',
    'master.key',
    'views.db',
    'views.ops.db',
  ])
  for (const name of readdirSync(beside('backup'))) expect(statSync(join(beside('backup'), name)).mode & 0o077).toBe(0)

  expect(await restore()).toMatchObject({ code: 0, stderr: '' })
  const { code: found, stdout: report } = await runScript(restored(), 'verify', '--json')
  expect([found, JSON.parse(report).findings]).toEqual([0, []])
  const successor = await startServer(restored())
  try {
    const tenant = createTenantClient(successor, the.main)
    expect((await tenant.readCall(before.call.id)).call).toEqual(before.call)
    expect((await tenant.playCall(call())).call.status).toBe('completed')
  } finally {
    await successor.stop()
  }
})

it('restores nothing that is damaged, incomplete or in the way', async () => {
  await backUp()
  const events = readFileSync(join(beside('backup'), 'events.db'))
  const at = Math.floor(events.length / 2)
  events[at] = (events[at] ?? 0) ^ 1
  cpSync(beside('backup'), beside('copy'), { recursive: true })
  writeFileSync(join(beside('copy'), 'events.db'), events)
  expect((await restore(beside('copy'))).stderr).toMatch(
    /copy\/events\.db is not as it was written: the backup is damaged\.\n$/,
  )
  rmSync(join(beside('copy'), 'backup.json'))
  expect((await restore(beside('copy'))).stderr).toMatch(/copy is no complete backup: it has no backup\.json\.\n$/)
  cpSync(join(beside('backup'), 'backup.json'), join(beside('copy'), 'backup.json'))
  appendFileSync(join(beside('copy'), 'backup.json'), '}')
  expect((await restore(beside('copy'))).stderr).toMatch(/backup\.json is damaged, or of another format\.\n$/)
  expect(existsSync(beside('restored'))).toBe(false)
  mkdirSync(beside('restored'))
  writeFileSync(join(beside('restored'), 'notes.txt'), 'mine')
  expect((await restore()).stderr).toMatch(/^The data directory \S+restored is not empty: move it away first\.\n$/)
  expect(readdirSync(beside('restored'))).toEqual(['notes.txt'])
})

it('restores without the read models that were left out, into a directory that a command has made', async () => {
  const { call: before } = await main.playCall(call())
  await backUp()
  rmSync(join(beside('backup'), 'views.db'))
  const early = { ...restored(), MASTER_KEY: randomBytes(32).toString('base64') }
  expect((await runScript(early, 'verify')).stderr).toMatch(/There is no event log at/)
  expect(readdirSync(beside('restored'))).toEqual([])
  expect(await restore()).toMatchObject({ code: 0, stderr: '' })
  expect(readdirSync(beside('restored'))).not.toContain('views.db')
  const successor = await startServer(restored())
  try {
    expect((await createTenantClient(successor, the.main).readCall(before.id)).call).toEqual(before)
  } finally {
    await successor.stop()
  }
  expect((await runScript(restored(), 'verify')).code).toBe(0)
})

it('writes over nothing, and begins anew after a kill', async () => {
  mkdirSync(beside('backup.partial'))
  writeFileSync(join(beside('backup.partial'), 'events.db'), 'half')
  expect((await restore(beside('backup.partial'))).stderr).toMatch(/is no complete backup/)
  expect((await backUp()).code).toBe(0)
  expect(existsSync(beside('backup.partial'))).toBe(false)
  expect((await backUp()).stderr).toMatch(/backup exists already\.\n$/)
})

it.each([
  [[], /^Usage: npm run backup -- <new directory>\n/],
  [['one', 'two'], /^Usage: /],
  [['--to', 'here'], /^Usage: /],
])('of %j ends with its usage', async (words, sentence) => {
  const { code, stdout, stderr } = await runScript(server.env, 'backup', ...words)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(sentence)
})

it('says that servers have tools of their own', async () => {
  const env = { ...server.env, EVENT_LOG_URL: 'esdb://127.0.0.1:1?tls=false' }
  expect((await runScript(env, 'backup', beside('backup'))).stderr).toBe(
    'Only stores in files are copied: EventStoreDB and MongoDB have tools of their own (docs/operations.md, "Backup").\n',
  )
})
