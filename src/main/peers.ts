import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { z } from 'zod'
import { createPeerClient } from '../adapters/peers/peer-client.ts'
import { openPeerServer } from '../adapters/peers/peer-server.ts'
import type { KeyBetween } from '../adapters/peers/sealed-messages.ts'
import { versionOf } from '../kernel/entity.ts'
import type { RecordedEvent } from '../kernel/event.ts'
import type { Clock } from '../ports/clock.ts'
import type { CommandHandler } from '../ports/command-handler.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import { answerCommands } from '../runtime/write/forwarding/answer-commands.ts'
import { createDisputes } from '../runtime/write/forwarding/disputes.ts'
import { withForwarding } from '../runtime/write/forwarding/forward-commands.ts'
import { MESSAGE_BYTES, vocabularyOf } from '../runtime/write/forwarding/messages.ts'
import { createOutbox } from '../runtime/write/forwarding/outbox.ts'
import { createPeerDirectory } from '../runtime/write/forwarding/peer-directory.ts'
import { commands, LOCAL_COMMANDS, preconditions } from './commands.ts'
import { type Config, isSingleProcess } from './config.ts'
import type { Metrics } from './metrics/metrics.ts'
import { entities } from './registry.ts'
import { deriveKey } from './sealing.ts'

/** Format of the messages between processes. */
const FORMAT = 1
/** Pairs of processes whose keys are remembered. */
const KEYS = 1_024

/** The other processes that decide commands, as this one works with them. */
export interface Peers {
  /** Hears of each append of this process, and whether it met one of another. */
  readonly onAppend: (stream: string, conflict: boolean) => void
  /** The writer that forwards what others should decide; `writer` itself decides what others forward. */
  readonly connect: <Writer extends CommandHandler>(writer: Writer) => Promise<Writer>
  /** Takes no more commands of others, and finishes those that it has taken. */
  readonly leave: () => Promise<void>
  readonly close: () => Promise<void>
}

/** For a process that is alone on its stores: listens to nobody. */
const NO_PEERS: Peers = {
  onAppend: () => undefined,
  connect: async (writer) => writer,
  leave: async () => undefined,
  close: async () => undefined,
}

/** What commands, events and states this code knows, as a hash: processes forward to those of the same alone. */
export function codeVersion(): string {
  const shapes = [
    commands.map(({ name, entity, input, rejects }) => [
      name,
      entity.name,
      rejects,
      z.toJSONSchema(input, { unrepresentable: 'any' }),
    ]),
    preconditions.map(({ name, input }) => [name, z.toJSONSchema(input, { unrepresentable: 'any' })]),
    entities.map((entity) => [
      entity.name,
      entity.version,
      Object.keys(entity.events).map((type) => [type, versionOf(entity, type)]),
    ]),
  ]
  return hash('sha256', JSON.stringify([FORMAT, shapes])).slice(0, 16)
}

/** Keys of the messages from one run of a process to another, derived from the root. */
function createKeysBetween(root: Buffer): KeyBetween {
  const keys = new LRUCache<string, Buffer>({ max: KEYS })
  return (from, to) => {
    const purpose = `commands ${JSON.stringify([from, to])}`
    const key = keys.get(purpose) ?? deriveKey(root, purpose)
    keys.set(purpose, key)
    return key
  }
}

/** The address at which other processes reach this one's listener. */
function addressOf({ host, peerHost }: Pick<Config, 'host' | 'peerHost'>, port: number): string {
  const isAny = host === '0.0.0.0' || host === '::'
  const reached = peerHost ?? (isAny ? hostname() : host)
  return `http://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}`
}

/** Opens what a process forwards commands with, and the listener that takes those of others where it has the role. */
export function openPeers(
  config: Pick<Config, 'roles' | 'readStoreUrl' | 'host' | 'peerHost' | 'peerPort'>,
  options: {
    readonly ops: OperationalStore
    readonly clock: Clock
    /** This process's name among the processes. */
    readonly owner: string
    readonly root: Buffer
    /** Hears of the events that others appended for this process. */
    readonly onAppended: (events: readonly RecordedEvent[], position: number) => void
    readonly metrics: Pick<Metrics, 'conflictMet' | 'commandForwarded'>
    readonly logger: Pick<Logger, 'warn'>
  },
): Peers {
  if (isSingleProcess(config)) return NO_PEERS
  const { clock, owner, root, onAppended, metrics, logger } = options
  const version = codeVersion()
  const keyBetween = createKeysBetween(root)
  const vocabulary = vocabularyOf(
    commands.filter((command) => !LOCAL_COMMANDS.has(command)),
    preconditions,
  )
  const disputes = createDisputes(clock)
  const directory = createPeerDirectory({ ...options, version })
  const client = createPeerClient({ owner, keyBetween, maxBytes: MESSAGE_BYTES })
  const outbox = createOutbox({
    client,
    clock,
    version,
    onAnswer: directory.recordAnswer,
    onFailure(peer) {
      directory.avoid(peer)
      logger.warn({ peer: peer.owner }, 'another process did not answer commands; they are decided here')
    },
  })
  let stopListening = async () => {}
  return {
    onAppend(stream, conflict) {
      if (conflict) metrics.conflictMet()
      disputes.recordAppend(stream, conflict)
    },
    async connect(writer) {
      if (config.roles.has('command-api')) {
        const answer = (message: string) => answerCommands({ writer, vocabulary, version }, message)
        const { host, peerPort: port } = config
        const server = await openPeerServer({ owner, host, port, keyBetween, maxBytes: MESSAGE_BYTES, answer })
        stopListening = server.close
        await directory.announce(addressOf(config, server.port))
      }
      return withForwarding(writer, {
        disputes,
        directory,
        outbox,
        vocabulary,
        onAppended,
        onForwarded: metrics.commandForwarded,
      })
    },
    async leave() {
      await directory.leave()
      await stopListening()
    },
    close: client.close,
  }
}
