import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { wireOf } from '../../src/adapters/http/refusals.ts'
import { roles } from '../../src/main/config.ts'
import {
  compose,
  composeSource,
  environmentOf,
  readProjectFile as read,
  composeService as serviceOf,
} from '../support/e2e/compose.ts'
import { PROXY_RULES } from '../support/e2e/path-proxy.ts'

const names = Object.keys(compose.services)

const DATABASES = ['eventstore', 'mongo']
/** In the order of an upgrade. */
const PLATFORM = ['projector', 'query-api', 'worker', 'command-api', 'auction-api', 'public-api']
/** A version with a digest; `EVENT_LOG_DIGEST` has no default: without it nothing starts. */
const BY_DIGEST = /^[\w./-]+:\d+(?:\.\d+)+[\w.-]*@(?:sha256:[0-9a-f]{64}|\$\{EVENT_LOG_DIGEST:\?[^}]+\})$/
/** Capabilities that an image names in the file of its program. */
const CAPABILITIES: Readonly<Record<string, readonly string[]>> = { proxy: ['NET_BIND_SERVICE'] }

/** The services that share a network with a service. */
const neighboursOf = (name: string) =>
  names.filter(
    (other) => other !== name && serviceOf(other).networks.some((one) => serviceOf(name).networks.includes(one)),
  )

test('the services are those that these rules know', () => {
  expect(names.toSorted()).toEqual(['proxy', ...PLATFORM, ...DATABASES].toSorted())
})

test('the services stand in the order of an upgrade, as the documentation tells it', () => {
  expect(names.filter((name) => PLATFORM.includes(name))).toEqual(PLATFORM)
  const [, steps = ''] = read('docs/operations.md').split('### The order of an upgrade')
  const roles = [...steps.matchAll(/^\d\. (?:Stop the old )?\*\*([\w-]+)\*\*/gm)].map(([, role]) => role)
  expect(roles).toEqual([...PLATFORM, 'projector'])
})

describe.each(names)('the container of %s', (name) => {
  const one = serviceOf(name)

  it('writes to volumes and to memory alone', () => {
    expect(one.read_only).toBe(true)
    for (const volume of one.volumes) {
      const [from = '', , mode] = volume.split(':')
      // What is mounted from the working directory is configuration.
      if (from.startsWith('.')) expect(mode).toBe('ro')
      else expect(Object.keys(compose.volumes)).toContain(from)
    }
  })

  it('has no privileges, and gains none', () => {
    expect(one.privileged ?? false).toBe(false)
    expect(one.cap_drop).toEqual(['ALL'])
    expect(one.cap_add).toEqual(CAPABILITIES[name] ?? [])
    expect(one.security_opt).toEqual(['no-new-privileges:true'])
  })

  it('has an image that is pinned by its digest, or is built here', () => {
    if (one.build !== undefined) expect(one.image).toBe('ringledger')
    else expect(one.image).toMatch(BY_DIGEST)
  })

  it('is on networks of its own, not on the default one nor on that of the machine', () => {
    expect(one.network_mode).toBeUndefined()
    expect(one.networks).not.toEqual([])
    expect(Object.keys(compose.networks)).toEqual(expect.arrayContaining(one.networks))
  })
})

describe('networks', () => {
  it('the proxy reaches the APIs alone', () => {
    expect(neighboursOf('proxy').toSorted()).toEqual(['auction-api', 'command-api', 'public-api', 'query-api'])
  })

  it.each(DATABASES)('%s is reached by the platform alone, and reaches nobody outside', (name) => {
    expect(neighboursOf(name).toSorted()).toEqual(PLATFORM.toSorted())
    for (const network of serviceOf(name).networks) expect(compose.networks[network]?.internal).toBe(true)
  })

  it('the projector, which calls nobody, cannot', () => {
    for (const network of serviceOf('projector').networks) expect(compose.networks[network]?.internal).toBe(true)
  })

  it('the machine opens one port, to itself', () => {
    expect(names.flatMap((name) => serviceOf(name).ports)).toEqual(['127.0.0.1:8080:8080'])
    expect(serviceOf('proxy').ports).toHaveLength(1)
  })
})

it.each(PLATFORM)('%s is healthy when it is ready', (name) => {
  expect(serviceOf(name).healthcheck?.test).toEqual(['CMD', 'node', '-e', expect.stringContaining('/readyz')])
})

describe('roles', () => {
  it.each(PLATFORM)('%s is a service of that role alone', (name) => {
    expect(serviceOf(name).environment.ROLES).toBe(name)
  })

  it('every role has a service, and .env.example names them all', () => {
    expect(PLATFORM.toSorted()).toEqual([...roles].toSorted())
    expect(read('.env.example')).toContain(`\nROLES=${roles.join(',')}\n`)
    expect(read('.env.example')).toContain(`any of ${roles.join(', ')}.`)
  })
})

describe('the proxy', () => {
  const rules = read('docker/Caddyfile')
  const matcherOf = (name: string) => new RegExp(`^\\t@${name} path (.+)$`, 'm').exec(rules)?.[1]?.split(' ')

  it('sends pings to the auction API and leases to the public API, before any rule that looks at the method', () => {
    expect(matcherOf('auctions')).toEqual(['/api/rtb', '/api/rtb/*'])
    expect(matcherOf('public')).toEqual(['/api/public', '/api/public/*'])
    const handled = [...rules.matchAll(/^\thandle ?(@\w+)? \{[\s\S]*?dynamic a ([\w-]+) 8080/gm)]
    expect(handled.map(([, rule, upstream]) => [rule, upstream])).toEqual([
      ['@auctions', 'auction-api'],
      ['@public', 'public-api'],
      ['@reads', 'query-api'],
      [undefined, 'command-api'],
    ])
    expect(handled.map(([, , upstream]) => upstream)).toEqual(PROXY_RULES.map(({ service }) => service))
  })

  it('tries again while a process restarts, and then answers 503 with Retry-After, as the platform does', () => {
    const tried = [...rules.matchAll(/lb_try_duration (\d)s/g)].map(([, seconds]) => Number(seconds))
    expect(tried).toEqual(PROXY_RULES.map(({ tryMs }) => tryMs / 1_000))
    expect([...rules.matchAll(/fail_duration \ds/g)]).toHaveLength(PROXY_RULES.length)
    const [, handler = ''] = rules.split('handle_errors')
    expect(handler).toMatch(/\[502, 503, 504\]/)
    expect(handler).toMatch(/header Retry-After \d+/)
    const [, body = ''] = /respond `(.+)` 503/.exec(handler) ?? []
    const { error } = JSON.parse(body.replaceAll('\\', ''))
    expect(error).toEqual({
      code: 'unavailable',
      message: wireOf('unavailable').message,
      requestId: expect.any(String),
    })
  })

  it('waits for every API that it sends to', () => {
    const { depends_on: waits } = z
      .object({ depends_on: z.record(z.string(), z.unknown()) })
      .parse(compose.services.proxy)
    expect(Object.keys(waits).toSorted()).toEqual(['auction-api', 'command-api', 'public-api', 'query-api'])
  })
})

describe.each(PLATFORM)('%s', (name) => {
  const stores = { EVENT_LOG_URL: 'esdb://events.example:2113', READ_STORE_URL: 'mongodb://views.example/ringledger' }

  it('uses the stores of the compose file, or those that .env names', () => {
    const dotEnv = { MASTER_KEY: 'key', MONGO_PASSWORD: 'pass' }
    expect(environmentOf(name, dotEnv).EVENT_LOG_URL).toBe('esdb://eventstore:2113?tls=false')
    expect(environmentOf(name, { ...dotEnv, ...stores })).toMatchObject(stores)
  })

  it('is on a network for what scrapes its metrics, which leads nowhere else', () => {
    expect(serviceOf(name).networks).toContain('metrics')
    expect(compose.networks.metrics?.internal).toBe(true)
  })
})

describe('MongoDB', () => {
  const { environment, volumes } = serviceOf('mongo')

  it('has a root whose password the environment must name', () => {
    expect(environment.MONGO_INITDB_ROOT_USERNAME).toBe('root')
    expect(environment.MONGO_INITDB_ROOT_PASSWORD).toMatch(/^\$\{MONGO_ROOT_PASSWORD:\?/)
  })

  it.each(PLATFORM)('%s signs in as a user of the one database, and waits for the journal', (name) => {
    const { READ_STORE_URL: url } = environmentOf(name, { MASTER_KEY: 'key', MONGO_PASSWORD: 'pass' })
    expect(url).toBe('mongodb://ringledger:pass@mongo:27017/ringledger?journal=true')
    expect(() => environmentOf(name, { MASTER_KEY: 'key' })).toThrow('MONGO_PASSWORD: set it in .env')
  })

  it('makes that user, which may read and write this database and no other', () => {
    const [file] = volumes.flatMap((volume) => volume.match(/^\.\/(.+):\/docker-entrypoint-initdb\.d\//)?.[1] ?? [])
    const users: unknown[] = []
    const db = { getName: () => environment.MONGO_INITDB_DATABASE, createUser: (user: unknown) => users.push(user) }
    new Function('db', 'process', read(file ?? ''))(db, { env: { MONGO_PASSWORD: 'pass' } })
    expect(users).toEqual([{ user: 'ringledger', pwd: 'pass', roles: [{ role: 'readWrite', db: 'ringledger' }] }])
    expect(environment.MONGO_PASSWORD).toBe('${'.concat('MONGO_PASSWORD}'))
  })
})

test('the image of the platform is built on a pinned one, and does not run as root', () => {
  const lines = read('Dockerfile').split('\n')
  const bases = lines.filter((line) => line.startsWith('FROM '))
  expect(bases).toHaveLength(1)
  for (const base of bases) expect(base.slice('FROM '.length)).toMatch(BY_DIGEST)
  const version = z.object({ dependencies: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')))
  expect(bases[0]).toContain(`node:${version.dependencies.node}-slim@`)
  expect(lines.filter((line) => line.startsWith('USER '))).toEqual(['USER node'])
})

test('.env.example names every variable that the services require', () => {
  const required = [...composeSource.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name)
  expect(required.length).toBeGreaterThan(0)
  for (const name of required) expect(read('.env.example')).toMatch(new RegExp(`^${name}=`, 'm'))
})
