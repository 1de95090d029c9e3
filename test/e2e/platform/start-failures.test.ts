import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { listenLocally } from '../../support/e2e/listen.ts'
import { startExpectingFailure } from '../../support/e2e/server.ts'

/** An empty SQLite database of one page with an application version. */
function emptyDatabase(userVersion: number): Buffer {
  const page = Buffer.alloc(4_096)
  page.write('SQLite format 3\0', 'latin1')
  page.writeUInt16BE(page.length, 16)
  page.set([1, 1, 0, 64, 32, 32], 18)
  page.writeUInt32BE(1, 24)
  page.writeUInt32BE(1, 28)
  page.writeUInt32BE(4, 44)
  page.writeUInt32BE(1, 56)
  page.writeUInt32BE(userVersion, 60)
  page.writeUInt32BE(1, 92)
  // The schema's leaf page, without a row.
  page[100] = 0x0d
  page.writeUInt16BE(page.length, 105)
  return page
}

const homes: string[] = []
const home = () => {
  const directory = mkdtempSync(join(tmpdir(), 'ringledger-'))
  homes.push(directory)
  return directory
}
afterAll(() => {
  for (const directory of homes) rmSync(directory, { recursive: true, force: true })
})

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  PORT: '0',
  DATA_DIR: join(home(), 'var'),
  LOG_LEVEL: 'warn',
  SANDBOX_SEED: '0',
  ...more,
})

/** Expects exactly one sentence on standard error. */
async function expectSentence(env: Readonly<Record<string, string>>, naming: RegExp) {
  const { code, stderr } = await startExpectingFailure(env)
  expect(stderr).toMatch(/^Ringledger cannot start: [^\n]+\n$/)
  expect(stderr).toMatch(naming)
  expect(code).toBe(1)
}

test('a port in use ends the start with one sentence', async () => {
  const other = createServer()
  const port = String(await listenLocally(other))
  await expectSentence(environment({ PORT: port }), new RegExp(`127\\.0\\.0\\.1:${port}.*another process`))
  await new Promise((resolve) => other.close(resolve))
})

test.each([
  ['a scheme that is no event log', { EVENT_LOG_URL: 'postgres://127.0.0.1/x' }, /EVENT_LOG_URL/],
  ['a scheme that is no read store', { READ_STORE_URL: 'redis://127.0.0.1/x' }, /READ_STORE_URL/],
  ['an event log that is not to be read as one', { EVENT_LOG_URL: 'esdb://' }, /event log|EVENT_LOG_URL|esdb/i],
  [
    'a read store that is not to be read as one',
    { READ_STORE_URL: 'mongodb://' },
    /read store|READ_STORE_URL|mongodb/i,
  ],
  [
    'an event log where nobody listens',
    { EVENT_LOG_URL: 'esdb://127.0.0.1:9?tls=false' },
    /event log|esdb|127\.0\.0\.1:9/i,
  ],
  [
    'a read store where nobody listens',
    { READ_STORE_URL: 'mongodb://127.0.0.1:9/x?serverSelectionTimeoutMS=2000' },
    /read store|mongodb|127\.0\.0\.1:9/i,
  ],
  ['a short operator token', { OPERATOR_TOKEN: 'x'.repeat(31) }, /OPERATOR_TOKEN is invalid: .*at least 32 characters/],
  ['a short metrics token', { METRICS_TOKEN: 'short' }, /METRICS_TOKEN is invalid: .*at least 32 characters/],
  ['a NODE_ENV that is no mode', { NODE_ENV: 'prod' }, /NODE_ENV is invalid: it must be production, development, test/],
  ['production without a master key', { NODE_ENV: 'production', CARRIER_URL: 'simulator:' }, /MASTER_KEY/],
  [
    'production without a carrier',
    { NODE_ENV: 'production', MASTER_KEY: Buffer.alloc(32).toString('base64') },
    /CARRIER_URL/,
  ],
])('%s', async (_name, more, naming) => {
  await expectSentence(environment(more), naming)
})

test('a data directory that is a file ends the start with one sentence', async () => {
  const file = join(home(), 'var')
  writeFileSync(file, '')
  await expectSentence(environment({ DATA_DIR: file }), /DATA_DIR.*var/)
})

test.each(['events.db', 'views.db'])('%s of a newer version ends the start with one sentence', async (name) => {
  const directory = join(home(), 'var')
  mkdirSync(directory)
  writeFileSync(join(directory, name), emptyDatabase(1000))
  await expectSentence(environment({ DATA_DIR: directory }), /has format version 1000; .* versions up to \d+/)
})

test('a file that is no database ends the start with one sentence', async () => {
  const directory = join(home(), 'var')
  mkdirSync(directory)
  writeFileSync(join(directory, 'events.db'), 'This is a letter, and not a database at all.'.repeat(100))
  await expectSentence(environment({ DATA_DIR: directory }), /events\.db|event log|database/i)
})
