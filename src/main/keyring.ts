import { z } from 'zod'
import { defineEntity, streamOf } from '../kernel/entity.ts'
import type { EventToAppend, RecordedEvent } from '../kernel/event.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Random } from '../ports/random.ts'
import { ConfigurationError, type MasterKey, type MasterKeys } from './config.ts'
import { masterKeysOf, otherKeyError } from './master-keys.ts'
import { decrypt, deriveKey, encrypt, KEY_BYTES, keyIdOf } from './sealing.ts'
import { openLogReader } from './stores.ts'

/** The platform's one stream of sealed roots: the last event counts. These names are the storage format. */
const ROOT_SEALED = 'RootSealed'
const rootSealed = z.object({ format: z.int(), keyId: z.string(), sealed: z.string() })
export const keyring = defineEntity({
  name: 'keyring',
  version: 1,
  events: { [ROOT_SEALED]: rootSealed },
  initial: null,
  evolve: {},
})
const STREAM = streamOf(keyring, 'all')

/** Format of what the log holds. 2: partitions in the names of streams; format 1 is known by the names of its first streams. */
const FORMAT = 2
const FIRST_FORMAT_STREAMS = ['keyring-all', 'platform-all']

const PAGE = 1_000
/** Purpose and associated data of the sealed root. */
const ROOT = 'root'

interface KeyringPorts {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes' | 'uuid'>
}

/** The root as the log has it. */
interface StoredRoot {
  readonly root: Buffer
  /** Id of the master key that it is sealed under. */
  readonly keyId: string
  readonly revision: number
}

/** @throws ConfigurationError of one sentence on another format than the program's */
function checkFormat(format: number): void {
  if (format === FORMAT) return
  const writer = format < FORMAT ? 'an earlier' : 'a later'
  throw new ConfigurationError(
    `The event log has format ${format} of ${writer} program, and this one reads format ${FORMAT} alone; name an empty event log in EVENT_LOG_URL.`,
  )
}

async function lastSealing(log: Pick<EventLog, 'read'>): Promise<RecordedEvent | undefined> {
  let last: RecordedEvent | undefined
  for (let from = 0; ; from += PAGE) {
    const page = await log.read(STREAM, from, PAGE)
    last = page.at(-1) ?? last
    if (page.length < PAGE) return last
  }
}

/**
 * The root that the log has; null when it has none. @throws ConfigurationError when the log's format is another, or no given key
 * opens the root; LogUnavailable
 */
async function readRoot(log: Pick<EventLog, 'read'>, keys: MasterKeys): Promise<StoredRoot | null> {
  const last = await lastSealing(log)
  if (!last) {
    const first = await Promise.all(FIRST_FORMAT_STREAMS.map((stream) => log.read(stream, 0, 1)))
    if (first.flat().length > 0) checkFormat(1)
    return null
  }
  const { format, keyId, sealed } = rootSealed.parse(last.data)
  checkFormat(format)
  const found = masterKeysOf(keys).find(({ key }) => keyIdOf(key) === keyId)
  if (!found) throw otherKeyError(keyId, keys)
  return { root: decrypt(deriveKey(found.key, ROOT), sealed, ROOT), keyId, revision: last.revision }
}

function sealingEvent(root: Buffer, { key }: MasterKey, { clock, random }: KeyringPorts): EventToAppend {
  const commandId = random.uuid()
  return {
    type: ROOT_SEALED,
    version: 1,
    data: { format: FORMAT, keyId: keyIdOf(key), sealed: encrypt(deriveKey(key, ROOT), root, ROOT, random) },
    meta: {
      eventId: random.uuid(),
      workspaceId: null,
      at: new Date(clock.now()).toISOString(),
      actor: { type: 'system', id: null, name: 'Ringledger' },
      commandId,
      correlationId: commandId,
      causationId: null,
      surface: 'system',
      ip: null,
    },
  }
}

/**
 * Opens the root, from which every key that seals or derives comes. Of several first starts at once, one makes it.
 * @throws ConfigurationError when the data is sealed under a key that was not given, or has another format; LogUnavailable
 */
export async function openRoot(
  log: Pick<EventLog, 'append' | 'read'>,
  keys: MasterKeys,
  ports: KeyringPorts,
): Promise<Buffer> {
  for (;;) {
    const stored = await readRoot(log, keys)
    if (stored) return stored.root
    const root = Buffer.from(ports.random.bytes(KEY_BYTES))
    const { ok } = await log.append(STREAM, -1, [sealingEvent(root, keys.current, ports)])
    if (ok) return root
  }
}

/**
 * Seals the root under the current master key; afterwards the previous one is not needed. One append, so that it is done or not.
 * Resolves to whether there was something to do. @throws ConfigurationError as `openRoot`, and where the log has no root; LogUnavailable
 */
export async function resealRoot(
  log: Pick<EventLog, 'append' | 'read'>,
  keys: MasterKeys,
  ports: KeyringPorts,
): Promise<boolean> {
  for (;;) {
    const stored = await readRoot(log, keys)
    if (!stored) throw new ConfigurationError('The event log that EVENT_LOG_URL names holds no data of the platform.')
    if (stored.keyId === keyIdOf(keys.current.key)) return false
    const { ok } = await log.append(STREAM, stored.revision, [sealingEvent(stored.root, keys.current, ports)])
    if (ok) return true
  }
}

/**
 * Opens the event log for reading alone, after a check of its format and that the given master keys are those of its data.
 * @throws ConfigurationError when they are not; LogUnavailable
 */
export async function openCheckedLog(url: string, keys: MasterKeys): Promise<EventLog> {
  const log = await openLogReader(url)
  try {
    await readRoot(log, keys)
    return log
  } catch (error) {
    await log.close()
    throw error
  }
}
