import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'vitest'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { openFaultProxy } from '../support/faults/fault-proxy.ts'
import {
  appendAndFollow,
  DEADLINE_MS,
  expectFollowed,
  expectNothingLost,
  retryUntilAnswered,
} from '../support/faults/log-load.ts'
import { eventStoreUrl } from '../support/servers.ts'

const url = eventStoreUrl()

test.runIf(url)(
  'appends to EventStoreDB end in time, lose nothing and are followed while the connection is cut and stalled',
  async () => {
    if (!url) return
    const way = await openFaultProxy(url)
    const far = await openEventStoreDb(url)
    const near = await retryUntilAnswered(() => openEventStoreDb(way.url, DEADLINE_MS))
    const faults = async () => {
      for (const fault of [way.cut, way.stall, way.cut]) {
        await wait(200)
        fault()
        await wait(DEADLINE_MS * 2)
        way.cut()
        way.restore()
        await retryUntilAnswered(() => near.head())
      }
      await wait(200)
    }
    const { seen, outcome } = await appendAndFollow(near, faults)
    expectFollowed(seen, outcome)
    await expectNothingLost(far, outcome)
    await near.close()
    await far.close()
    await way.close()
  },
)
