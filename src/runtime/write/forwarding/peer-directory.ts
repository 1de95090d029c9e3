import { LRUCache } from 'lru-cache'
import { derivedId } from '../../../kernel/derived-id.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { OperationalStore } from '../../../ports/operational-store.ts'
import type { Peer } from '../../../ports/peers.ts'
import { DEAD_MS } from '../../ownership/ownership.ts'
import { FORGOTTEN_MS, readBeats } from '../../ownership/presence.ts'
import { createSilenceTracker } from '../../ownership/silence.ts'

/** How old what is known of the peers may become while it is asked for (ms). */
const LOOK_EVERY_MS = 1_000
/** How long a peer that failed is left alone (ms). */
export const AVOIDED_MS = 5_000

/** Keys whose owner is remembered, and peers that have answered. */
const KEYS = 10_000
const PEERS = 1_000

const PREFIX = 'peer:'

/** A process as it announces itself. */
interface Announcement {
  readonly url: string
  /** Which commands, events and states its code knows: processes of other versions send it nothing. */
  readonly version: string
}

/** Which process decides the disputed commands of a workspace, or of another subject. */
export interface PeerDirectory {
  /**
   * The peer that owns a subject (a workspace's id); null: this process, or nobody who could be asked. All processes of one
   * version that see the same peers say the same; where they do not, expected revisions keep their writes exact.
   */
  readonly ownerOf: (key: string) => Peer | null
  /** A peer that has answered lives, however late its beats come. */
  readonly recordAnswer: (peer: Peer) => void
  /** Asks nothing of a peer for a while. */
  readonly avoid: (peer: Peer) => void
  /** Announces that this process takes commands at an address. @throws StoreUnavailable */
  readonly announce: (url: string) => Promise<void>
  /** Takes the announcement back. */
  readonly leave: () => Promise<void>
}

interface Candidate extends Peer {
  /** Only while its beat moves. */
  readonly isAlive: () => boolean
}

/** Creates a process's directory of its peers, read from their announcements and beats while it is asked. */
export function createPeerDirectory(options: {
  readonly ops: Pick<OperationalStore, 'list' | 'put' | 'delete'>
  readonly clock: Clock
  readonly owner: string
  readonly version: string
}): PeerDirectory {
  const { ops, clock, owner, version } = options
  const silence = createSilenceTracker()
  const avoided = new Map<string, number>()
  const answeredAt = new LRUCache<string, number>({ max: PEERS })
  /** Owners by key, as of the last look. */
  const owners = new LRUCache<string, Candidate>({ max: KEYS })
  let candidates: readonly Candidate[] = []
  let own: Candidate | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking = false
  let cancel = () => {}

  async function look(): Promise<void> {
    const now = clock.now()
    const [beats, entries] = await Promise.all([readBeats(ops, now), ops.list(PREFIX, now)])
    silence.look(beats, clock.now())
    candidates = entries.flatMap(({ key, value }) => {
      const name = key.slice(PREFIX.length)
      const { url, version: its } = value as Announcement
      if (name === owner || its !== version) return []
      const silentMs = () =>
        Math.min(silence.silenceOf(name), clock.now() - (answeredAt.get(name) ?? Number.NEGATIVE_INFINITY))
      return [{ owner: name, url, isAlive: () => silentMs() < DEAD_MS }]
    })
    owners.clear()
  }

  function lookAgain(): void {
    if (looking || clock.now() - lookedAt < LOOK_EVERY_MS) return
    looking = true
    lookedAt = clock.now()
    // A store that does not answer leaves what is known: a peer that is gone refuses the connection.
    look()
      .catch(() => undefined)
      .finally(() => {
        looking = false
      })
  }

  const alive = () => candidates.filter(({ isAlive }) => isAlive())

  const put = (url: string) =>
    ops.put(`${PREFIX}${owner}`, { url, version } satisfies Announcement, clock.now() + FORGOTTEN_MS)
  function renewLater(url: string): void {
    cancel = clock.schedule(clock.now() + FORGOTTEN_MS / 2, () => {
      renewLater(url)
      void put(url).catch(() => undefined)
    })
  }

  return {
    ownerOf(key) {
      lookAgain()
      const best = owners.get(key) ?? highest(own ? [...alive(), own] : alive(), key)
      if (best) owners.set(key, best)
      if (!best || best === own || clock.now() < (avoided.get(best.owner) ?? 0)) return null
      return best
    },
    recordAnswer: (peer) => void answeredAt.set(peer.owner, clock.now()),
    avoid(peer) {
      answeredAt.delete(peer.owner)
      for (const [other, until] of avoided) if (until <= clock.now()) avoided.delete(other)
      avoided.set(peer.owner, clock.now() + AVOIDED_MS)
    },
    async announce(url) {
      await put(url)
      own = { owner, url, isAlive: () => true }
      owners.clear()
      renewLater(url)
    },
    async leave() {
      cancel()
      if (!own) return
      own = null
      owners.clear()
      await ops.delete(`${PREFIX}${owner}`).catch(() => undefined)
    },
  }
}

/** The candidate with the highest hash for a key (rendezvous hashing): one that comes or goes moves only its own keys. */
function highest(candidates: readonly Candidate[], key: string): Candidate | null {
  let best: Candidate | null = null
  let highestHash = ''
  for (const candidate of candidates) {
    const hash = derivedId(`${candidate.owner}\n${key}`)
    if (hash <= highestHash) continue
    best = candidate
    highestHash = hash
  }
  return best
}
