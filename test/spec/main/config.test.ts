import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigurationError, isSingleProcess, readConfig, roles, rolesWarning } from '../../../src/main/config.ts'

const directory = mkdtempSync(join(tmpdir(), 'ringledger-config-'))
afterAll(() => rmSync(directory, { recursive: true }))

const read = (env: Readonly<Record<string, string>>) => readConfig({ DATA_DIR: directory, ...env })

test.each(['OPERATOR_TOKEN', 'METRICS_TOKEN'])('%s has at least 32 characters', (name) => {
  expect(() => read({ [name]: 'x'.repeat(31) })).toThrow(new RegExp(`^${name} is invalid: .*at least 32 characters`))
  expect(() => read({ [name]: 'x'.repeat(32) })).not.toThrow()
})

test.each(['', 'development', 'test'])('NODE_ENV=%s is a trial', (NODE_ENV) => {
  expect(read({ NODE_ENV }).production).toBe(false)
})

test.each(['prod', 'Production', 'staging'])('NODE_ENV=%s is refused in one sentence', (NODE_ENV) => {
  expect(() => read({ NODE_ENV })).toThrow(ConfigurationError)
  expect(() => read({ NODE_ENV })).toThrow(
    'NODE_ENV is invalid: it must be production, development, test, or empty for a trial.',
  )
})

test.each([
  ['is taken from others where it is empty', [], '700'],
  ['is taken from others where it holds the files of the platform', ['events.db', 'notes.txt'], '700'],
  ['keeps its mode where it holds the files of somebody else', ['notes.txt'], '755'],
])('a data directory that was there before %s', (_name, files, mode) => {
  const DATA_DIR = join(directory, `${mode}-${files.length}`)
  mkdirSync(DATA_DIR)
  chmodSync(DATA_DIR, 0o755)
  for (const file of files) writeFileSync(join(DATA_DIR, file), '')
  read({ DATA_DIR })
  expect((statSync(DATA_DIR).mode & 0o777).toString(8)).toBe(mode)
})

test.each([
  { SHARDS: '3' },
  { ROLES: 'nobody' },
  { EVENT_LOG_URL: 'ftp://events' },
  { READ_STORE_URL: 'ftp://views' },
  { EGRESS_ALLOW: 'everywhere' },
  { MASTER_KEY: 'short' },
  { MASTER_KEY_PREVIOUS: 'short' },
  { NODE_ENV: 'production' },
])('a start that %o refuses leaves no data directory behind', (env) => {
  const DATA_DIR = join(directory, 'refused')
  expect(() => readConfig({ DATA_DIR, ...env })).toThrow(ConfigurationError)
  expect(existsSync(DATA_DIR)).toBe(false)
})

test.each([undefined, '', '1', '2', '16', '256'])('SHARDS=%s cuts the partitions into equal ranges', (SHARDS) => {
  expect(read(SHARDS === undefined ? {} : { SHARDS }).shards).toBe(Number(SHARDS || 1))
})

test.each(['0', '3', '-2', '1.5', '257', '512', 'many'])('SHARDS=%s is refused in one sentence', (SHARDS) => {
  expect(() => read({ SHARDS })).toThrow(ConfigurationError)
  expect(() => read({ SHARDS })).toThrow(/^SHARDS is invalid: .*\.$/)
})

test.each([
  ['PORT', '65536', 'it must be a whole number from 0 to 65535'],
  ['PORT', 'http', 'it must be a whole number from 0 to 65535'],
  ['PORT', '80.5', 'it must be a whole number from 0 to 65535'],
  ['PEER_PORT', '-1', 'it must be a whole number from 0 to 65535'],
  ['PUBLIC_URL', 'example.com', 'it must be a URL that begins with http:// or https://'],
  ['TELNYX_API_BASE', 'ftp://example.com', 'it must be a URL that begins with http:// or https://'],
  ['LOG_LEVEL', 'loud', 'it must be fatal, error, warn, info, debug, trace, silent'],
  ['CARRIER_URL', 'twilio:', 'it must be simulator: or telnyx:'],
])('%s=%s is refused with what it must be', (name, value, text) => {
  expect(() => read({ [name]: value })).toThrow(new ConfigurationError(`${name} is invalid: ${text}.`))
})

test.each([0, 65_535])('PORT and PEER_PORT may be %s', (port) => {
  expect(read({ PORT: String(port), PEER_PORT: String(port) })).toMatchObject({ port, peerPort: port })
})

test.each(['commands-1', '10.0.0.7', 'fd00::7', 'one.two.internal'])('PEER_HOST=%s names the process', (PEER_HOST) => {
  expect(read({ PEER_HOST, PEER_PORT: '8081' })).toMatchObject({ peerHost: PEER_HOST, peerPort: 8081 })
  expect(read({})).toMatchObject({ peerHost: null, peerPort: 0 })
})

test.each([
  ['PEER_HOST', 'http://a'],
  ['PEER_HOST', '[::1]'],
  ['PEER_HOST', 'x'.repeat(254)],
  ['PEER_PORT', '65536'],
  ['PEER_PORT', '-1'],
])('%s=%s is refused in one sentence', (name, value) => {
  expect(() => read({ [name]: value })).toThrow(new RegExp(`^${name} is invalid: .*`))
})

describe('whose X-Forwarded-For is believed', () => {
  test.each([
    ['', false],
    ['false', false],
    ['true', true],
    ['0', 0],
    ['2', 2],
    ['loopback', ['loopback']],
    ['10.0.0.0/8, uniquelocal ,2001:db8::/32', ['10.0.0.0/8', 'uniquelocal', '2001:db8::/32']],
    ['203.0.113.7', ['203.0.113.7']],
  ])('TRUST_PROXY=%s', (TRUST_PROXY, trusted) => {
    expect(read({ TRUST_PROXY }).trustProxy).toEqual(trusted)
  })

  test.each(['yes', '-1', '1.5', '10.0.0.0/33', '10.0.0.0/', 'loopback,', '2001:db8::/129', '10.0.0.0/8/8'])(
    'TRUST_PROXY=%s is refused in one sentence',
    (TRUST_PROXY) => {
      expect(() => read({ TRUST_PROXY })).toThrow(ConfigurationError)
      expect(() => read({ TRUST_PROXY })).toThrow(/^TRUST_PROXY names ".*"; it takes .*\.$/)
    },
  )
})

test('a process with every role over a file of its own is alone; any other shares its stores', () => {
  expect(isSingleProcess(read({}))).toBe(true)
  expect(isSingleProcess(read({ ROLES: 'worker, auction-api, command-api,projector,public-api,query-api' }))).toBe(true)
  expect(isSingleProcess(read({ ROLES: 'worker, command-api,projector,query-api' }))).toBe(false)
  expect(isSingleProcess(read({ ROLES: 'command-api,query-api,projector' }))).toBe(false)
  expect(isSingleProcess(read({ READ_STORE_URL: 'mongodb://127.0.0.1/x' }))).toBe(false)
})

describe('a list of roles', () => {
  test('has every role where none is named', () => {
    expect([...read({}).roles]).toEqual(roles)
    expect([...read({ ROLES: '' }).roles]).toEqual(roles)
  })

  const earlier = 'command-api,query-api,projector,worker'

  test.each([
    [earlier, 'auction-api and public-api', 'no pings of publishers and no leases of visitors'],
    [`${earlier},auction-api`, 'public-api', 'no leases of visitors'],
    [`${earlier},public-api`, 'auction-api', 'no pings of publishers'],
  ])(
    'of an earlier version, %s, starts, and is told in one sentence what it does not do',
    (ROLES, missing, unanswered) => {
      const warning = rolesWarning(read({ ROLES })) ?? ''
      expect(
        warning.startsWith(`ROLES names every role but ${missing}, so this process answers ${unanswered}: add `),
      ).toBe(true)
      expect(warning).toMatch(/^[^.]*\.$/)
    },
  )

  test.each(['', 'auction-api', 'public-api', 'worker', 'command-api,query-api,projector', roles.join(',')])(
    '%s is as it was meant',
    (ROLES) => {
      expect(rolesWarning(read({ ROLES }))).toBeNull()
    },
  )
})

describe('the master keys', () => {
  const key = Buffer.alloc(32, 7).toString('base64')

  test('are those of the environment', () => {
    expect(read({ MASTER_KEY: key, MASTER_KEY_PREVIOUS: '' }).masterKeys).toEqual({
      current: { key: Buffer.alloc(32, 7), source: 'MASTER_KEY' },
      previous: null,
    })
    expect(read({ MASTER_KEY_PREVIOUS: key }).masterKeys).toEqual({
      current: { key: expect.any(Buffer), source: join(directory, 'master.key') },
      previous: { key: Buffer.alloc(32, 7), source: 'MASTER_KEY_PREVIOUS' },
    })
  })

  test('is made once, and is its owner’s alone', () => {
    expect(read({}).masterKeys).toEqual(read({}).masterKeys)
    expect(readdirSync(directory).filter((name) => name.startsWith('master.key'))).toEqual(['master.key'])
    expect(statSync(join(directory, 'master.key')).mode & 0o777).toBe(0o600)
  })

  test.each(['MASTER_KEY', 'MASTER_KEY_PREVIOUS'])('%s of another length is refused in one sentence', (name) => {
    for (const bytes of [31, 33])
      expect(() => read({ [name]: Buffer.alloc(bytes).toString('base64') })).toThrow(
        `${name} is not 32 bytes in base64.`,
      )
    expect(() => read({ [name]: key })).not.toThrow()
  })
})

describe('what bids and webhooks may reach though it is not public', () => {
  const production = {
    NODE_ENV: 'production',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    CARRIER_URL: 'simulator:',
  }

  test('is this machine where nothing is said, and nothing where nothing is named or in production', () => {
    expect(read({}).egressAllowed).toEqual(read({ EGRESS_ALLOW: '127.0.0.1/32' }).egressAllowed)
    expect(read({}).egressAllowed).toHaveLength(1)
    expect(read({ EGRESS_ALLOW: '' }).egressAllowed).toEqual([])
    expect(read(production).egressAllowed).toEqual([])
    expect(read({ EGRESS_ALLOW: '10.0.0.0/8, fd00::/8,192.168.1.7' }).egressAllowed).toHaveLength(3)
    expect(read({ ...production, EGRESS_ALLOW: '8.8.8.0/24' }).egressAllowed).toHaveLength(1)
  })

  test.each(['localhost', '10.0.0.0/33', '0x7f.1'])('EGRESS_ALLOW=%s is refused in one sentence', (EGRESS_ALLOW) => {
    expect(() => read({ EGRESS_ALLOW })).toThrow(/^EGRESS_ALLOW names ".*", which is not an address or a CIDR range\.$/)
  })

  test.each(['127.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1'])('production does not open %s', (EGRESS_ALLOW) => {
    expect(() => read({ ...production, EGRESS_ALLOW })).toThrow(ConfigurationError)
  })
})
