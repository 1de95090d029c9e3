import { LRUCache } from 'lru-cache'
import { Pool } from 'undici'
import type { PeerClient } from '../../ports/peers.ts'
import { HEADERS, type KeyBetween, MESSAGES, openMessage, PATH, SEAL_BYTES, sealMessage } from './sealed-messages.ts'

/** Peers to which connections are kept. */
const PEERS = 64
/** Connections to one peer. */
const CONNECTIONS = 8
const CONNECT_MS = 1_000
const IDLE_MS = 60_000

/** Creates the client of a process for the listeners of others (`peer-server.ts`). */
export function createPeerClient(options: {
  /** This process's name, under which messages are sealed. */
  readonly owner: string
  readonly keyBetween: KeyBetween
  /** Largest answer in bytes. */
  readonly maxBytes: number
}): PeerClient {
  const { owner, keyBetween, maxBytes } = options
  const closing: Promise<void>[] = []
  const pools = new LRUCache<string, Pool>({ max: PEERS, dispose: (pool) => void closing.push(pool.close()) })
  let sent = 0

  const poolOf = (url: string) => {
    const known = pools.get(url)
    if (known) return known
    const pool = new Pool(url, {
      connections: CONNECTIONS,
      connect: { timeout: CONNECT_MS },
      keepAliveTimeout: IDLE_MS,
      maxResponseSize: maxBytes + SEAL_BYTES,
    })
    pools.set(url, pool)
    return pool
  }

  return {
    async send(peer, message, signal) {
      sent += 1
      const number = sent
      const key = keyBetween(owner, peer.owner)
      const bytes = sealMessage(key, MESSAGES.commands(number), message)
      const { statusCode, body } = await poolOf(peer.url).request({
        path: PATH,
        method: 'POST',
        headers: {
          [HEADERS.from]: owner,
          [HEADERS.number]: String(number),
          [HEADERS.proof]: sealMessage(key, MESSAGES.proof(number, bytes.length), '').toString('base64url'),
        },
        body: bytes,
        signal,
      })
      const answer = Buffer.from(await body.arrayBuffer())
      if (statusCode !== 200) throw new Error(`${peer.url} refused commands with ${statusCode}.`)
      return openMessage(keyBetween(peer.owner, owner), MESSAGES.answers(number), answer)
    },
    async close() {
      pools.clear()
      await Promise.allSettled(closing)
    },
  }
}
