import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { isGlobal } from '../adapters/egress/addresses.ts'
import type { TelnyxSettings } from '../adapters/telnyx/telnyx.ts'
import { publicKeyOf } from '../adapters/telnyx/webhook.ts'
import { STAFF_TOKEN } from '../domain/shared/limits.ts'
import { type IpRange, parseIpRange } from '../kernel/ip-address.ts'
import { PARTITIONS } from '../kernel/partition.ts'
import { KEY_BYTES } from './sealing.ts'

export const roles = ['command-api', 'query-api', 'projector', 'worker', 'auction-api', 'public-api'] as const
export type ProcessRole = (typeof roles)[number]

/** The roles of the first versions. */
const EARLIER_ROLES: readonly ProcessRole[] = ['command-api', 'query-api', 'projector', 'worker']
/** Roles that came later, and what goes unanswered without them. */
const LATER_ROLES: readonly (readonly [ProcessRole, string])[] = [
  ['auction-api', 'pings of publishers'],
  ['public-api', 'leases of visitors'],
]

/** The environment is invalid; the message is one sentence for the operator. */
export class ConfigurationError extends Error {
  override readonly name = 'Misconfigured'
}

/** A token of the platform's staff: shorter ones could be guessed. */
const staffToken = z
  .string()
  .min(STAFF_TOKEN.min, `it must have at least ${STAFF_TOKEN.min} characters (openssl rand -hex 32)`)
  .optional()

const flag = z.enum(['0', '1']).transform((text) => text === '1')
const emptyIsUnset = (value: unknown) => (value === '' ? undefined : value)

/** Into how many ranges the partitions are cut. */
const shardCount = z.coerce
  .number()
  .refine((count) => Number.isInteger(count) && count >= 1 && PARTITIONS % count === 0, {
    error: `it must divide ${PARTITIONS}: 1, 2, 4, 8, 16, 32, 64, 128 or ${PARTITIONS}`,
  })
  .default(1)

/** A host name, or an address without brackets. */
const HOST_NAME = /^[\w.:-]{1,253}$/

/** Values of `NODE_ENV`: all but `production` run a trial, as without one. */
const MODES = ['production', 'development', 'test'] as const

/** Values of `LOG_LEVEL`. */
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
/** Values of `CARRIER_URL`. */
const CARRIERS = ['simulator:', 'telnyx:'] as const

const MAX_PORT = 65_535
const portError = `it must be a whole number from 0 to ${MAX_PORT}`
const port = z.coerce.number({ error: portError }).int(portError).min(0, portError).max(MAX_PORT, portError)
const httpUrl = z.url({ protocol: /^https?$/, error: 'it must be a URL that begins with http:// or https://' })

const environment = z.object({
  NODE_ENV: z.preprocess(
    emptyIsUnset,
    z.enum(MODES, { error: `it must be ${MODES.join(', ')}, or empty for a trial` }).optional(),
  ),
  PORT: z.preprocess(emptyIsUnset, port.default(8080)),
  HOST: z.preprocess(emptyIsUnset, z.string().default('127.0.0.1')),
  PEER_HOST: z.preprocess(emptyIsUnset, z.string().regex(HOST_NAME, 'it must be a host name or an address').optional()),
  PEER_PORT: z.preprocess(emptyIsUnset, port.default(0)),
  DATA_DIR: z.preprocess(emptyIsUnset, z.string().default('var')),
  PUBLIC_URL: z.preprocess(emptyIsUnset, httpUrl.optional()),
  MASTER_KEY: z.preprocess(emptyIsUnset, z.string().optional()),
  MASTER_KEY_PREVIOUS: z.preprocess(emptyIsUnset, z.string().optional()),
  OPERATOR_TOKEN: z.preprocess(emptyIsUnset, staffToken),
  METRICS_TOKEN: z.preprocess(emptyIsUnset, staffToken),
  LOG_LEVEL: z.preprocess(
    emptyIsUnset,
    z.enum(LOG_LEVELS, { error: `it must be ${LOG_LEVELS.join(', ')}` }).default('info'),
  ),
  TRUST_PROXY: z.preprocess(emptyIsUnset, z.string().optional()),
  ROLES: z.preprocess(emptyIsUnset, z.string().default(roles.join(','))),
  EVENT_LOG_URL: z.preprocess(emptyIsUnset, z.string().optional()),
  READ_STORE_URL: z.preprocess(emptyIsUnset, z.string().optional()),
  CARRIER_URL: z.preprocess(
    emptyIsUnset,
    z.enum(CARRIERS, { error: `it must be ${CARRIERS.join(' or ')}` }).optional(),
  ),
  TELNYX_API_KEY: z.preprocess(emptyIsUnset, z.string().optional()),
  TELNYX_CONNECTION_ID: z.preprocess(emptyIsUnset, z.string().optional()),
  TELNYX_PUBLIC_KEY: z.preprocess(emptyIsUnset, z.string().optional()),
  TELNYX_API_BASE: z.preprocess(emptyIsUnset, httpUrl.optional()),
  EGRESS_ALLOW: z.string().optional(),
  SIP_DOMAIN: z.preprocess(
    emptyIsUnset,
    z.string().regex(HOST_NAME, 'it must be a host name or an address').optional(),
  ),
  SHARDS: z.preprocess(emptyIsUnset, shardCount),
  SANDBOX_SEED: z.preprocess(emptyIsUnset, flag.default(true)),
  NUMBER_ORDERING: z.preprocess(emptyIsUnset, flag.default(true)),
})

/** A master key, and where it was read: a variable or a file. */
export interface MasterKey {
  readonly key: Buffer
  readonly source: string
}

/** The master keys of this process: the one that it seals under, and the one before it, while there is one. */
export interface MasterKeys {
  readonly current: MasterKey
  readonly previous: MasterKey | null
}

/** Configuration of this process. */
export interface Config {
  readonly production: boolean
  readonly port: number
  readonly host: string
  /** By which name or address other processes reach this one; null: its host's name, or the address that it listens on. */
  readonly peerHost: string | null
  /** Port that takes the commands of other processes; 0: any. */
  readonly peerPort: number
  readonly dataDir: string
  /** Base of public links, without a slash at the end; null: the address on which the server listens. */
  readonly publicUrl: string | null
  readonly masterKeys: MasterKeys
  /** Token of the operator surface; null disables the surface. */
  readonly operatorToken: string | null
  /** Bearer token of `/metrics`; without one it is open, and absent in production. */
  readonly metricsToken: string | null
  readonly logLevel: string
  /** Proxies whose `X-Forwarded-For` is trusted: none, all, a number of hops, or addresses and ranges. */
  readonly trustProxy: boolean | number | string[]
  readonly roles: ReadonlySet<ProcessRole>
  /** Domain of the SIP addresses that publishers are given; null for none. */
  readonly sipDomain: string | null
  /** Into how many ranges the partitions are cut, for projections, reactions and timers alike. */
  readonly shards: number
  readonly eventLogUrl: string
  readonly readStoreUrl: string
  /** Ranges that bids and webhooks may reach in addition to public addresses. */
  readonly egressAllowed: readonly IpRange[]
  /** The Telnyx account; null with the simulated carrier. */
  readonly telnyx: TelnyxSettings | null
  /** Whether numbers can be searched, ordered and released at the carrier. */
  readonly numberOrdering: boolean
  /** Whether the first start plays a week of calls in the sandbox workspace. */
  readonly seedCalls: boolean
}

const NAMED_RANGES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal']

/** An address or CIDR range; an IPv6 address may name a zone. */
function isAddressOrRange(text: string): boolean {
  return parseIpRange(text.includes(':') ? text.replace(/%[\w.:-]+/, '') : text) !== null
}

/** Parses `TRUST_PROXY`; a bare number is a number of hops. @throws ConfigurationError */
function trustedProxies(text: string): Config['trustProxy'] {
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^\d+$/.test(text)) return Number(text)
  const named = text.split(',').map((one) => one.trim())
  const wrong = named.find((one) => !NAMED_RANGES.includes(one) && !isAddressOrRange(one))
  if (wrong === undefined) return named
  throw new ConfigurationError(
    `TRUST_PROXY names "${wrong}"; it takes true, false, a number of hops, or addresses, ranges, ${NAMED_RANGES.join(', ')}.`,
  )
}

/** Whether this process is the only one on its stores: it has every role, and the read store is a file. */
export function isSingleProcess({ roles: own, readStoreUrl }: Pick<Config, 'roles' | 'readStoreUrl'>): boolean {
  return roles.every((role) => own.has(role)) && readStoreUrl.startsWith('sqlite:')
}

/** What the operator of a process with these roles should know, in one sentence; null for nothing. */
export function rolesWarning({ roles: own }: Pick<Config, 'roles'>): string | null {
  if (!EARLIER_ROLES.every((role) => own.has(role))) return null
  const missing = LATER_ROLES.filter(([role]) => !own.has(role))
  if (missing.length === 0) return null
  const [names, tasks] = [missing.map(([role]) => role).join(' and '), missing.map(([, task]) => task).join(' and no ')]
  return `ROLES names every role but ${names}, so this process answers no ${tasks}: add ${names}, or run other processes that have ${missing.length === 1 ? 'it' : 'them'}.`
}

function rolesOf(text: string): ReadonlySet<ProcessRole> {
  const named = text.split(',').map((role) => role.trim())
  const unknown = named.find((role) => !roles.some((known) => known === role))
  if (unknown !== undefined)
    throw new ConfigurationError(`ROLES names "${unknown}"; the roles are ${roles.join(', ')}.`)
  return new Set(roles.filter((role) => named.includes(role)))
}

function storeUrl(name: string, url: string, schemes: readonly string[]): string {
  if (schemes.some((scheme) => url.startsWith(scheme))) return url
  throw new ConfigurationError(`${name} is "${url.split(':')[0]}:…"; it must begin with ${schemes.join(' or ')}.`)
}

/** The carrier: the simulated one by default, but in production it must be named. @throws ConfigurationError */
function carrierOf(named: z.infer<typeof environment>['CARRIER_URL'], production: boolean) {
  if (named === undefined && production) {
    throw new ConfigurationError(
      'CARRIER_URL is required in production: telnyx:, or simulator: for calls that are not real.',
    )
  }
  return named ?? 'simulator:'
}

/** Settings of the Telnyx account; null for the simulated carrier. @throws ConfigurationError */
function telnyxSettings(
  carrier: ReturnType<typeof carrierOf>,
  set: z.infer<typeof environment>,
): TelnyxSettings | null {
  if (carrier !== 'telnyx:') return null
  const required = (name: 'TELNYX_API_KEY' | 'TELNYX_CONNECTION_ID' | 'TELNYX_PUBLIC_KEY') => {
    const value = set[name]
    if (value === undefined) throw new ConfigurationError(`CARRIER_URL is telnyx:, so ${name} is required.`)
    return value
  }
  const account = { apiKey: required('TELNYX_API_KEY'), connectionId: required('TELNYX_CONNECTION_ID') }
  const publicKey = signingKey(required('TELNYX_PUBLIC_KEY'))
  return { ...account, publicKey, apiBase: set.TELNYX_API_BASE ?? null, rents: set.NUMBER_ORDERING }
}

function signingKey(text: string): TelnyxSettings['publicKey'] {
  try {
    return publicKeyOf(text)
  } catch {
    throw new ConfigurationError('TELNYX_PUBLIC_KEY is not an Ed25519 public key: 32 bytes in base64.')
  }
}

/** Files by which a directory is known to be the platform's own: others keep their mode. */
const OWN_FILES = ['master.key', 'events.db', 'sandbox.json']

/** Leaves a directory that an earlier version or a user made to its owner alone, if it is empty or holds the platform's files. */
function takeFromOthers(directory: string): void {
  const names = readdirSync(directory)
  const isOurs = names.length === 0 || OWN_FILES.some((name) => names.includes(name))
  const { mode, uid } = statSync(directory)
  if (isOurs && (mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(directory, 0o700)
}

/** Creates the data directory, and takes it from others. @throws ConfigurationError when it cannot be created or written */
function openDataDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    takeFromOthers(directory)
    const probe = join(directory, '.writable')
    writeFileSync(probe, '', { mode: 0o600 })
    rmSync(probe, { force: true })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new ConfigurationError(`DATA_DIR ${directory} cannot be written (${code}).`)
  }
}

/** Parses a master key. @throws ConfigurationError */
function masterKeyOf(source: string, text: string): MasterKey {
  const key = Buffer.from(text, 'base64')
  if (key.length !== KEY_BYTES) throw new ConfigurationError(`${source} is not ${KEY_BYTES} bytes in base64.`)
  return { key, source }
}

/** Writes a new master key to a file that is not there. Of two processes that do so at once, one writes it. */
function createKeyFile(file: string): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft)
  }
}

/** Parses the master keys of the environment; without one, the current key is that of the data directory. @throws ConfigurationError */
function givenMasterKeys(
  { MASTER_KEY: given, MASTER_KEY_PREVIOUS: before }: z.infer<typeof environment>,
  production: boolean,
): { readonly current: MasterKey | null; readonly previous: MasterKey | null } {
  if (given === undefined && production) {
    throw new ConfigurationError(`MASTER_KEY is required in production: ${KEY_BYTES} bytes in base64.`)
  }
  return {
    current: given === undefined ? null : masterKeyOf('MASTER_KEY', given),
    previous: before === undefined ? null : masterKeyOf('MASTER_KEY_PREVIOUS', before),
  }
}

/** Reads the master key of a data directory; the first start creates one. @throws ConfigurationError */
function masterKeyIn(directory: string): MasterKey {
  const file = join(directory, 'master.key')
  if (!existsSync(file)) createKeyFile(file)
  return masterKeyOf(file, readFileSync(file, 'utf8'))
}

/** Parses `EGRESS_ALLOW`. @throws ConfigurationError when an entry is not a range, or not a public one in production */
function allowedRanges(given: string | undefined, production: boolean, simulated: boolean): readonly IpRange[] {
  const texts = (given ?? (production || !simulated ? '' : '127.0.0.1/32')).split(',').map((text) => text.trim())
  return texts
    .filter((text) => text !== '')
    .map((text) => {
      const range = parseIpRange(text)
      if (!range) throw new ConfigurationError(`EGRESS_ALLOW names "${text}", which is not an address or a CIDR range.`)
      if (production && !isGlobal(range))
        throw new ConfigurationError(`EGRESS_ALLOW names ${text}; in production only public ranges are allowed.`)
      return range
    })
}

/** The environment of the process, with the variables of `.env` in the working directory. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}

/** Reads the configuration from the environment. Nothing is written where a setting is refused. @throws ConfigurationError */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const parsed = environment.safeParse(env)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new ConfigurationError(`${issue?.path.join('.')} is invalid: ${issue?.message}.`)
  }
  const set = parsed.data
  const production = set.NODE_ENV === 'production'
  const carrier = carrierOf(set.CARRIER_URL, production)
  const dataDir = resolve(set.DATA_DIR)
  const keys = givenMasterKeys(set, production)
  const settings = {
    production,
    port: set.PORT,
    host: set.HOST,
    peerHost: set.PEER_HOST ?? null,
    peerPort: set.PEER_PORT,
    dataDir,
    publicUrl: set.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    operatorToken: set.OPERATOR_TOKEN ?? null,
    metricsToken: set.METRICS_TOKEN ?? null,
    logLevel: set.LOG_LEVEL,
    trustProxy: trustedProxies(set.TRUST_PROXY ?? 'false'),
    roles: rolesOf(set.ROLES),
    sipDomain: set.SIP_DOMAIN ?? null,
    shards: set.SHARDS,
    eventLogUrl: storeUrl('EVENT_LOG_URL', set.EVENT_LOG_URL ?? `sqlite:${join(dataDir, 'events.db')}`, [
      'sqlite:',
      'esdb:',
    ]),
    readStoreUrl: storeUrl('READ_STORE_URL', set.READ_STORE_URL ?? `sqlite:${join(dataDir, 'views.db')}`, [
      'sqlite:',
      'mongodb:',
      'mongodb+srv:',
    ]),
    egressAllowed: allowedRanges(set.EGRESS_ALLOW, production, carrier === 'simulator:'),
    numberOrdering: set.NUMBER_ORDERING,
    telnyx: telnyxSettings(carrier, set),
    seedCalls: set.SANDBOX_SEED,
  }
  openDataDirectory(dataDir)
  return { ...settings, masterKeys: { ...keys, current: keys.current ?? masterKeyIn(dataDir) } }
}
