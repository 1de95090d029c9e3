import { expect } from 'vitest'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { type AuctionLog, openAuctionLog } from './auction-log.ts'
import { createLaneDesk, createPublisherClient, type LaneDesk, type PublisherClient } from './publisher-client.ts'
import type { PublisherLane } from './publisher-lane.ts'
import { late, type Suite, type SuiteOptions, suite } from './suite.ts'
import type { Tenant } from './world.ts'

interface LaneWorld {
  readonly main: Tenant
  readonly lanes: Readonly<Record<string, Pick<PublisherLane, 'routingKey'>>>
}

/** What a test file about lanes uses beside the functions of its suite. */
export interface LaneSuite<World extends LaneWorld> extends Suite<World> {
  /** Changes lanes and what belongs to them. */
  readonly desk: LaneDesk
  /** The publisher of a lane. */
  readonly by: (lane: keyof World['lanes']) => PublisherClient
  /** The auctions of the world's main tenant. */
  readonly log: AuctionLog
  /** Types of the events of an auction. */
  readonly typesOf: (auctionId: string) => Promise<readonly string[]>
}

/** Declares a suite over a world with publishers' lanes. */
export function laneSuite<World extends LaneWorld>(
  name: string,
  world: (writer: StreamWriter) => Promise<World>,
  options: SuiteOptions = {},
): LaneSuite<World> {
  const declared = suite(name, world, options)
  const { beforeAll, afterAll, main, the, server } = declared
  let opened: AuctionLog | undefined
  beforeAll(async () => {
    opened = await openAuctionLog(server, the.main.workspaceId)
  })
  afterAll(() => opened?.close())
  const log = late(() => opened ?? expect.fail(`${name}: the log is open only while tests run`))
  return {
    ...declared,
    desk: createLaneDesk(main),
    by: (lane) => createPublisherClient(server, () => the.lanes[lane as string]?.routingKey ?? null),
    log,
    typesOf: async (auctionId) => (await log.eventsOf(auctionId)).map(({ type }) => type),
  }
}
