import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type Server, startExpectingFailure, storeSetups, waitUntil } from '../../support/e2e/server.ts'
import { platform } from '../../support/e2e/suite.ts'
import { answerScript, createTenantClient, type TenantClient } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

const DESK = '+13125550001'

/** An empty SQLite database of one page, with the version that its application gave it. */
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

async function prepared(writer: StreamWriter) {
  const main = await createTenantWorkspace(writer, { name: 'Main' })
  const desk = await main.target(await main.buyer({ name: 'Acme' }), { endpoint: { destinationE164: DESK } })
  return { main, line: await main.line({ name: 'Open' }, [desk]) }
}

describe.each(storeSetups)('a process over $name', (setup) => {
  let server: Server
  let the: Awaited<ReturnType<typeof prepared>>
  let main: TenantClient

  platform(
    setup,
    prepared,
    (started, built) => {
      server = started
      the = built
      main = createTenantClient(server, the.main)
    },
    {},
  )

  const idsOf = async () => {
    const { body } = await main.rest('/api/v1/calls?pageSize=200')
    return body.data.map(({ id }: { readonly id: string }) => id)
  }

  test('stopped, it finishes what it has accepted and ends with 0', async () => {
    const sent = Array.from({ length: 40 }, () =>
      main.placeCall({ to: the.line.e164, mode: 'instant' }).catch(() => null),
    )
    await Promise.race(sent)
    const ended = await server.stop()
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const answers = await Promise.all(sent)
    const accepted = answers.flatMap((answer) => (answer?.status === 201 ? [answer.body.callId] : []))
    expect(accepted.length).toBeGreaterThan(0)
    for (const answer of answers) expect([201, 503, undefined]).toContain(answer?.status)
    await server.restart()
    expect(await idsOf()).toEqual(expect.arrayContaining(accepted))
    const { body } = await main.rest('/api/v1/calls?outcome=live')
    expect(body.total).toBe(0)
  })

  test('killed in the middle of a live call, it takes the call up again and settles it once', async () => {
    const placed = await main.placeCall({ to: the.line.e164, speed: 60, script: { [DESK]: answerScript(90) } })
    expect(placed.status, placed.text).toBe(201)
    await server.kill()
    await server.restart()
    const { call, story } = await waitUntil('The call settles', async () => {
      const read = await main.readCall(placed.body.callId)
      return read.call.settledAt !== null && read
    })
    expect(call).toMatchObject({ outcome: 'converted', attemptCount: 1, revenueCents: 1_000 })
    const types = story.events.map(({ type }: { readonly type: string }) => type)
    expect(types.filter((type: string) => type !== 'recording.saved')).toEqual([
      'call.arrived',
      'target.dialed',
      'target.answered',
      'call.ended',
      'call.settled',
    ])
  })

  test('it says nothing of secrets and callers in its log', async () => {
    await main.placeCall({ to: the.line.e164, from: '+14155550177', mode: 'instant' })
    const ended = await server.stop()
    expect(ended.stdout + ended.stderr).not.toMatch(/\+14155550177/)
    expect(ended.stdout + ended.stderr).not.toContain(the.main.session)
    await server.restart()
  })
})

describe('a process that cannot run', () => {
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

  /** One sentence on standard error, and nothing else there. */
  async function expectSentence(env: Readonly<Record<string, string>>, naming: RegExp) {
    const { code, stderr } = await startExpectingFailure(env)
    expect(stderr).toMatch(/^Ringledger cannot start: [^\n]+\n$/)
    expect(stderr).toMatch(naming)
    expect(code).toBe(1)
  }

  test('the port is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const port = typeof address === 'object' && address ? String(address.port) : ''
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
    ['production without a master key', { NODE_ENV: 'production' }, /MASTER_KEY/],
  ])('%s', async (_name, more, naming) => {
    await expectSentence(environment(more), naming)
  })

  test('a data directory that is a file', async () => {
    const file = join(home(), 'var')
    writeFileSync(file, '')
    await expectSentence(environment({ DATA_DIR: file }), /DATA_DIR.*var/)
  })

  test.each(['events.db', 'views.db'])('%s of a newer version', async (name) => {
    const directory = join(home(), 'var')
    mkdirSync(directory)
    writeFileSync(join(directory, name), emptyDatabase(1000))
    await expectSentence(environment({ DATA_DIR: directory }), /written by version 1000 .* version \d+ at most/)
  })

  test('a database that is no database', async () => {
    const directory = join(home(), 'var')
    mkdirSync(directory)
    writeFileSync(join(directory, 'events.db'), 'This is a letter, and not a database at all.'.repeat(100))
    await expectSentence(environment({ DATA_DIR: directory }), /events\.db|event log|database/i)
  })
})
