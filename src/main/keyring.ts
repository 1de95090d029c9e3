import { z } from 'zod'
import type { EventToAppend, RecordedEvent } from '../kernel/event.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Random } from '../ports/random.ts'
import type { MasterKey, MasterKeys } from './config.ts'
import { keyOfEarlierData } from './earlier-data.ts'
import { masterKeysOf, otherKeyError } from './master-keys.ts'
import { decrypt, deriveKey, encrypt, KEY_BYTES, keyIdOf } from './sealing.ts'
import { openLogReader } from './stores.ts'

/** The platform's one stream of sealed roots: the last event counts. These names are the storage format. */
const STREAM = 'keyring-all'
const ROOT_SEALED = 'RootSealed'
const rootSealed = z.object({ keyId: z.string(), sealed: z.string() })

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

async function lastSealing(log: Pick<EventLog, 'read'>): Promise<RecordedEvent | undefined> {
  let last: RecordedEvent | undefined
  for (let from = 0; ; from += PAGE) {
    const page = await log.read(STREAM, from, PAGE)
    last = page.at(-1) ?? last
    if (page.length < PAGE) return last
  }
}

/** The root that the log has; null when it has none. @throws ConfigurationError when no given key opens it; LogUnavailable */
async function readRoot(log: Pick<EventLog, 'read'>, keys: MasterKeys): Promise<StoredRoot | null> {
  const last = await lastSealing(log)
  if (!last) return null
  const { keyId, sealed } = rootSealed.parse(last.data)
  const found = masterKeysOf(keys).find(({ key }) => keyIdOf(key) === keyId)
  if (!found) throw otherKeyError(keyId, keys)
  return { root: decrypt(deriveKey(found.key, ROOT), sealed, ROOT), keyId, revision: last.revision }
}

function sealingEvent(root: Buffer, { key }: MasterKey, { clock, random }: KeyringPorts): EventToAppend {
  const commandId = random.uuid()
  return {
    type: ROOT_SEALED,
    version: 1,
    data: { keyId: keyIdOf(key), sealed: encrypt(deriveKey(key, ROOT), root, ROOT, random) },
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
 * Opens the root, from which every key that seals or derives comes. The first start makes it, from the master key itself where
 * the data is older than the root: what was sealed and derived before stays as it is. Of several first starts at once, one
 * makes it. @throws ConfigurationError when the data is sealed under a key that was not given; LogUnavailable
 */
export async function openRoot(
  log: Pick<EventLog, 'append' | 'head' | 'read' | 'readAll'>,
  keys: MasterKeys,
  ports: KeyringPorts,
): Promise<Buffer> {
  for (;;) {
    const stored = await readRoot(log, keys)
    if (stored) return stored.root
    const earlier = await keyOfEarlierData(log, keys)
    const root = earlier?.key ?? Buffer.from(ports.random.bytes(KEY_BYTES))
    const { ok } = await log.append(STREAM, -1, [sealingEvent(root, earlier ?? keys.current, ports)])
    if (ok) return root
  }
}

/**
 * Seals the root under the current master key; afterwards the previous one is not needed. One append, so that it is done or not.
 * Resolves to whether there was something to do. @throws ConfigurationError when the data is sealed under a key that was not given; LogUnavailable
 */
export async function resealRoot(
  log: Pick<EventLog, 'append' | 'head' | 'read' | 'readAll'>,
  keys: MasterKeys,
  ports: KeyringPorts,
): Promise<boolean> {
  await openRoot(log, keys, ports)
  for (;;) {
    const stored = await readRoot(log, keys)
    if (!stored || stored.keyId === keyIdOf(keys.current.key)) return false
    const { ok } = await log.append(STREAM, stored.revision, [sealingEvent(stored.root, keys.current, ports)])
    if (ok) return true
  }
}

/**
 * Opens the event log for reading alone, after a check that the given master keys are those of its data.
 * @throws ConfigurationError when they are not; LogUnavailable
 */
export async function openCheckedLog(url: string, keys: MasterKeys): Promise<EventLog> {
  const log = await openLogReader(url)
  try {
    if ((await readRoot(log, keys)) === null) await keyOfEarlierData(log, keys)
    return log
  } catch (error) {
    await log.close()
    throw error
  }
}
