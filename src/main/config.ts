import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'

export const roles = ['command-api', 'query-api', 'projector', 'worker'] as const
export type Role = (typeof roles)[number]

/** Something in the environment is wrong; the message is one sentence for the operator. */
export class Misconfigured extends Error {
  override readonly name = 'Misconfigured'
}

const flag = z.enum(['0', '1']).transform((text) => text === '1')
const emptyIsUnset = (value: unknown) => (value === '' ? undefined : value)

const environment = z.object({
  NODE_ENV: z.string().optional(),
  PORT: z.preprocess(emptyIsUnset, z.coerce.number().int().min(0).max(65_535).default(8080)),
  HOST: z.preprocess(emptyIsUnset, z.string().default('127.0.0.1')),
  DATA_DIR: z.preprocess(emptyIsUnset, z.string().default('var')),
  PUBLIC_URL: z.preprocess(emptyIsUnset, z.url({ protocol: /^https?$/ }).optional()),
  MASTER_KEY: z.preprocess(emptyIsUnset, z.string().optional()),
  OPERATOR_TOKEN: z.preprocess(emptyIsUnset, z.string().optional()),
  METRICS_TOKEN: z.preprocess(emptyIsUnset, z.string().optional()),
  LOG_LEVEL: z.preprocess(
    emptyIsUnset,
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ),
  TRUST_PROXY: z.preprocess(emptyIsUnset, z.string().optional()),
  ROLES: z.preprocess(emptyIsUnset, z.string().default(roles.join(','))),
  EVENT_LOG_URL: z.preprocess(emptyIsUnset, z.string().optional()),
  READ_STORE_URL: z.preprocess(emptyIsUnset, z.string().optional()),
  CARRIER_URL: z.preprocess(emptyIsUnset, z.literal('simulator:').default('simulator:')),
  SANDBOX_SEED: z.preprocess(emptyIsUnset, flag.default(true)),
})

/** How this process is to run. */
export interface Config {
  readonly production: boolean
  readonly port: number
  readonly host: string
  readonly dataDir: string
  /** Null until the port is known: then it is where the server listens. */
  readonly publicUrl: string | null
  /** 32 bytes under which secrets are sealed. */
  readonly masterKey: Buffer
  /** The staff's token; null leaves the operator surface off. */
  readonly operatorToken: string | null
  readonly metricsToken: string | null
  readonly logLevel: string
  readonly trustProxy: boolean | string
  readonly roles: ReadonlySet<Role>
  readonly eventLogUrl: string
  readonly readStoreUrl: string
  /** Whether the first start plays calls into the sandbox workspace. */
  readonly seedCalls: boolean
}

function rolesOf(text: string): ReadonlySet<Role> {
  const named = text.split(',').map((role) => role.trim())
  const unknown = named.find((role) => !roles.some((known) => known === role))
  if (unknown !== undefined) throw new Misconfigured(`ROLES names "${unknown}"; the roles are ${roles.join(', ')}.`)
  return new Set(roles.filter((role) => named.includes(role)))
}

function storeUrl(name: string, url: string, schemes: readonly string[]): string {
  if (schemes.some((scheme) => url.startsWith(scheme))) return url
  throw new Misconfigured(`${name} is "${url.split(':')[0]}:…"; it begins with ${schemes.join(' or ')}.`)
}

/** The directory that everything is written under. @throws Misconfigured when it cannot be made or written. */
function dataDirectory(path: string): string {
  const directory = resolve(path)
  try {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, '.writable'), '')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Misconfigured(`DATA_DIR ${directory} cannot be written (${code}).`)
  }
  return directory
}

/** The master key: from the environment, or made in the data directory on the first start outside production. */
function masterKeyFrom(given: string | undefined, directory: string, production: boolean): Buffer {
  const file = join(directory, 'master.key')
  if (given === undefined && production)
    throw new Misconfigured('MASTER_KEY is required in production: 32 bytes in base64.')
  if (given === undefined && !existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600 })
  const key = Buffer.from(given ?? readFileSync(file, 'utf8'), 'base64')
  if (key.length !== 32) throw new Misconfigured(`${given ? 'MASTER_KEY' : file} is not 32 bytes in base64.`)
  return key
}

/** The process's environment, with what a `.env` in the working directory adds to it. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}

/** Reads the environment. @throws Misconfigured with one sentence */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const parsed = environment.safeParse(env)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Misconfigured(`${issue?.path.join('.')} is not usable: ${issue?.message}.`)
  }
  const set = parsed.data
  const production = set.NODE_ENV === 'production'
  const dataDir = dataDirectory(set.DATA_DIR)
  return {
    production,
    port: set.PORT,
    host: set.HOST,
    dataDir,
    publicUrl: set.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    masterKey: masterKeyFrom(set.MASTER_KEY, dataDir, production),
    operatorToken: set.OPERATOR_TOKEN ?? null,
    metricsToken: set.METRICS_TOKEN ?? null,
    logLevel: set.LOG_LEVEL,
    trustProxy: set.TRUST_PROXY === 'true' ? true : (set.TRUST_PROXY ?? false),
    roles: rolesOf(set.ROLES),
    eventLogUrl: storeUrl('EVENT_LOG_URL', set.EVENT_LOG_URL ?? `sqlite:${join(dataDir, 'events.db')}`, [
      'sqlite:',
      'esdb:',
    ]),
    readStoreUrl: storeUrl('READ_STORE_URL', set.READ_STORE_URL ?? `sqlite:${join(dataDir, 'views.db')}`, [
      'sqlite:',
      'mongodb:',
      'mongodb+srv:',
    ]),
    seedCalls: set.SANDBOX_SEED,
  }
}
