import { type AuctionHeld, auction, auctionEvents } from '../../../src/domain/auctions/auction.ts'
import type { ledgerEvents } from '../../../src/domain/routing/ledger-events.ts'
import { streamOf } from '../../../src/kernel/entity.ts'
import { dataOf, type RecordedEvent } from '../../../src/kernel/event.ts'
import { readConfig } from '../../../src/main/config.ts'
import { openLog } from '../../../src/main/stores.ts'
import { type EventLog, START } from '../../../src/ports/event-log.ts'
import type { Json } from './api-client.ts'
import type { Server } from './server.ts'

/** Reads what the log of a platform holds of the auctions of a workspace. */
export interface AuctionLog {
  /** The events of an auction. */
  readonly eventsOf: (auctionId: string) => Promise<readonly RecordedEvent[]>
  /** The event of an auction that was held. */
  readonly held: (auctionId: string) => Promise<AuctionHeld>
  /** Data of the workspace's events of a type, oldest first. */
  readonly all: (type: keyof typeof auctionEvents | keyof typeof ledgerEvents) => Promise<readonly Json[]>
  readonly close: () => Promise<void>
}

async function allOf(log: EventLog, workspaceId: string, type: string): Promise<readonly Json[]> {
  const found: Json[] = []
  for (let after = START, end = false; !end; ) {
    const page = await log.readAll(after, 5_000, { types: new Set([type]) })
    found.push(...page.events.filter(({ meta }) => meta.workspaceId === workspaceId).map(({ data }) => data))
    after = page.position
    end = page.end
  }
  return found
}

/** Opens the log of a running platform beside it. */
export async function openAuctionLog({ env }: Pick<Server, 'env'>, workspaceId: string): Promise<AuctionLog> {
  const log = await openLog(readConfig(env).eventLogUrl)
  const eventsOf: AuctionLog['eventsOf'] = (auctionId) => log.read(streamOf(auction, auctionId, workspaceId), 0)
  return {
    eventsOf,
    async held(auctionId) {
      const data = dataOf(auctionEvents, await eventsOf(auctionId), 'AuctionHeld')
      if (!data) throw new Error(`The auction ${auctionId} is not in the log.`)
      return data
    },
    all: (type) => allOf(log, workspaceId, type),
    close: () => log.close(),
  }
}
