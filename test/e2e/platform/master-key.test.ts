import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles } from '../../../src/main/config.ts'
import { createApiClient, type Json } from '../../support/e2e/api-client.ts'
import { secretsOf } from '../../support/e2e/secrets.ts'
import {
  embeddedStores,
  freshEnvironment,
  runScript,
  type Server,
  startExpectingFailure,
  startServer,
  storeSetups,
} from '../../support/e2e/server.ts'

const newKey = () => randomBytes(32).toString('base64')
const [old, next] = [newKey(), newKey()]
const WRONG_KEY = /^[^\n]*The data is sealed under the master key [0-9a-f]{8}, and MASTER_KEY is the key [^\n]+\.\n$/

const HEADERS = { authorization: 'Bearer of-the-bidder' }
const IDEMPOTENT = { 'idempotency-key': 'one-key' }

describe('a master key', () => {
  const env = { ...freshEnvironment(embeddedStores), MASTER_KEY: old }
  let server: Server
  let first: Json

  const ask = (credential: 'sessionToken' | 'apiKey') =>
    createApiClient(() => server.baseUrl, server.sandbox[credential])
  const console_ = (path: string, init: Json = {}) => ask('sessionToken')(path, init)
  const createKey = () =>
    console_('/api/tracking/api-keys', {
      method: 'POST',
      body: { name: 'Key', scopes: ['calls:read'] },
      headers: IDEMPOTENT,
    })

  /** Everything that is sealed or derived, as the platform shows it. */
  async function shown() {
    const { sandbox } = server
    const target = await console_(`/api/tracking/targets/${first.targetId}`)
    const [campaign] = sandbox.campaigns
    const lanes = await console_(`/api/tracking/campaigns/${campaign?.id}/publishers`)
    const position = { headers: { 'svc-min-position': first.position } }
    const { ownerPassword, apiKey, routingKey, compatUrl } = sandbox
    return {
      bidHeaders: [target.status, target.body.target?.rtb.bidHeaders],
      lanes: [lanes.status, lanes.text.match(/ct_[\w-]+/g)],
      withKey: (await ask('apiKey')('/api/v1/calls', position)).status,
      sandbox: { ownerPassword, apiKey, routingKey, compatUrl: compatUrl?.replace(/^.*?\/api/, '') },
    }
  }

  beforeAll(async () => {
    server = await startServer(env)
    const buyer = await console_('/api/tracking/buyers', { method: 'POST', body: { name: 'Buyer' } })
    const rtb = { bidUrl: 'https://bidder.example/bid', bidHeaders: HEADERS }
    const body = { name: 'Bidder', type: 'rtb', buyerId: buyer.body.buyer.id, rtb }
    const made = await console_('/api/tracking/targets', { method: 'POST', body })
    const key = await createKey()
    first = { targetId: made.body.target.id, position: made.headers.get('svc-position'), key: key.body.key }
    first.shown = await shown()
    expect(first.shown).toMatchObject({ bidHeaders: [200, HEADERS], lanes: [200, [/^ct_/]], withKey: 200 })
    await server.stop()
  })
  afterAll(() => server.dispose())

  test.each(roles)('other than the data’s ends the start of %s with one sentence', async (role) => {
    const started = await startExpectingFailure({ ...env, MASTER_KEY: next, ROLES: role })
    expect([started.code, started.stdout, started.stderr]).toEqual([1, '', expect.stringMatching(WRONG_KEY)])
  })

  test.each([['rebuild', '--all'], ['explain', '0190a5c0-0000-7000-8000-000000000000'], ['reseal']])(
    'other than the data’s ends npm run %s with one sentence',
    async (script, ...words) => {
      const ended = await runScript({ ...env, MASTER_KEY: next }, script, ...words)
      expect(ended.code).toBe(1)
      expect(ended.stderr.split('\n').slice(-2).join('\n')).toMatch(WRONG_KEY)
    },
  )

  test('is not resealed where there is no data, and none is made', async () => {
    const directory = join(dirname(server.dataDir), 'mistyped')
    const ended = await runScript({ ...env, MASTER_KEY: next, MASTER_KEY_PREVIOUS: old, DATA_DIR: directory }, 'reseal')
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(/There is no event log at \S+mistyped\/events\.db\.\n$/)
    expect(readdirSync(directory)).toEqual([])
  })

  test('is rotated: with the previous one beside it, by a reseal while the platform runs, then alone', async () => {
    await server.restart({ MASTER_KEY: next, MASTER_KEY_PREVIOUS: old })
    expect(await shown()).toEqual(first.shown)
    const replay = await createKey()
    expect([replay.body.key, replay.headers.get('svc-idempotent-replay')]).toEqual([first.key, 'true'])

    const resealed = await runScript({ ...env, MASTER_KEY: next, MASTER_KEY_PREVIOUS: old }, 'reseal')
    expect([resealed.code, resealed.stdout]).toEqual([
      0,
      expect.stringMatching(/^The data is sealed under .* now;.*\n$/),
    ])
    expect(await shown()).toEqual(first.shown)
    const again = await runScript({ ...env, MASTER_KEY: next }, 'reseal')
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringMatching(/^The data was sealed under .* already;.*\n$/),
    ])

    await server.restart({ MASTER_KEY: next })
    expect(await shown()).toEqual(first.shown)
    expect((await createKey()).body.key).toBe(first.key)
    await server.stop()
    const withOld = await startExpectingFailure(env)
    expect([withOld.code, withOld.stderr]).toEqual([1, expect.stringMatching(WRONG_KEY)])
  })
})

test('a lost master key ends the start, and loses nothing', async () => {
  const env = freshEnvironment(embeddedStores)
  const directory = env.DATA_DIR ?? ''
  const file = join(directory, 'master.key')
  const derived = (await secretsOf(env)).derive('a purpose')
  const key = readFileSync(file, 'utf8')
  rmSync(file)
  const { code, stderr } = await startExpectingFailure(env)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Ringledger cannot start: The data is sealed under the master key \w+, and \S+master\.key is/)
  expect((await secretsOf({ ...env, MASTER_KEY: key })).derive('a purpose')).toBe(derived)
  rmSync(dirname(directory), { recursive: true })
})

test('two first starts at once agree on one key and one root', async () => {
  const env = freshEnvironment(embeddedStores)
  const servers = await Promise.all([startServer(env), startServer(env)])
  try {
    const [one, other] = servers.map(({ baseUrl, sandbox }) => createApiClient(() => baseUrl, sandbox.apiKey))
    const position = (await one?.('/api/v1/calls'))?.headers.get('svc-position') ?? ''
    const read = await other?.('/api/v1/calls', { headers: { 'svc-min-position': position } })
    expect([position, read?.status]).toEqual([expect.stringMatching(/^[\w-]{22}$/), 200])
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    await servers[0]?.dispose()
  }
})

test.each(storeSetups.filter((setup) => setup !== embeddedStores))(
  'a master key other than the data’s ends the start over $name with one sentence',
  async (setup) => {
    const env = freshEnvironment(setup)
    await secretsOf(env)
    const { code, stderr } = await startExpectingFailure({ ...env, MASTER_KEY: next })
    expect([code, stderr]).toEqual([1, expect.stringMatching(WRONG_KEY)])
    rmSync(dirname(env.DATA_DIR ?? ''), { recursive: true })
  },
)
