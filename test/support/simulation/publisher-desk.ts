import type { z } from 'zod'
import { createAuctionNumbers } from '../../../src/api/auctions/auction-numbers.ts'
import { type AuctionDesk, createPingDesk } from '../../../src/api/auctions/hold-ping.ts'
import type { PublisherRequest } from '../../../src/api/auctions/ping-request.ts'
import { createPostDesk, type postAnswerShape } from '../../../src/api/auctions/post-offer.ts'
import type { PublisherKey } from '../../../src/api/auctions/publisher-keys.ts'
import type { AuctionHeld } from '../../../src/domain/auctions/auction.ts'
import type { Ping, PingBody } from '../../../src/domain/auctions/ping.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { PING } from '../../../src/domain/shared/limits.ts'
import { isRefusal, type Refusal } from '../../../src/kernel/refusal.ts'
import type { OperationalStore } from '../../../src/ports/operational-store.ts'
import type { AuctionPorts } from '../../../src/reactions/tools.ts'
import { NO_RATES } from '../../../src/runtime/rates/rates-limiter.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { WORKSPACE } from '../fixtures/spec.ts'

/** A ping of a publisher by one of its keys. */
export interface SentPing {
  readonly keyId: string
  readonly protocol: Ping['protocol']
  readonly body: PingBody
}

/** A post of a publisher by one of its keys. */
export interface SentPost {
  readonly keyId: string
  readonly auctionId: string
  readonly callerNumber: string
}

/** Where publishers' requests come in. */
export interface PublisherDesk {
  /** Resolves to what the auction came to; null where it was refused before it was judged. */
  readonly ping: (sent: SentPing) => Promise<AuctionHeld | null>
  readonly post: (sent: SentPost) => Promise<z.infer<typeof postAnswerShape> | Refusal>
}

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

/** Creates the desk of a process. Its rates are not limited. */
export function createPublisherDesk({
  auctions,
  writer,
  ops,
  ...shared
}: {
  readonly auctions: AuctionPorts
  readonly writer: StreamWriter
  readonly ops: OperationalStore
} & Pick<AuctionDesk, 'effects' | 'clock' | 'random'>): PublisherDesk {
  const { clock, random } = shared
  const desk: AuctionDesk = {
    ...auctions,
    ...shared,
    writer,
    rates: NO_RATES,
    rows: NO_RATES,
    // The store of a run is never emptied.
    nextNumber: createAuctionNumbers({ ops, clock, highest: async () => 0 }),
    onKeyUse: () => undefined,
  }
  const [pings, post] = [createPingDesk(desk), createPostDesk(desk, null)]

  async function keyOf(keyId: string): Promise<PublisherKey> {
    const configured = await writer.recentStateOf(workspace, WORKSPACE, PING.foldAgeMs)
    const key = configured.routingKeys.get(keyId)
    if (!key) throw new Error(`${keyId} is no key.`)
    return { workspaceId: WORKSPACE, key, configured }
  }

  const requestOf = (body: unknown): PublisherRequest => ({
    requestId: random.uuid(),
    ip: '',
    raw: {
      headers: { 'content-type': 'application/json' },
      bytes: encode(body),
      check: (value) => ({ value }),
    },
    query: {},
    receivedMs: clock.now(),
  })

  return {
    async ping({ keyId, protocol, body }) {
      const held = await pings.judge(await keyOf(keyId), requestOf(body), protocol, () => ({ body }))
      return isRefusal(held) ? null : held.held
    },
    post: async ({ keyId, ...body }) => post(await keyOf(keyId), requestOf(body)),
  }
}
