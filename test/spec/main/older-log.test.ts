import { expect, it } from 'vitest'
import { ConfigurationError } from '../../../src/main/config.ts'
import { refuseOlderLog } from '../../../src/main/older-log.ts'
import { appendTo, tallyBegun } from '../../support/fixtures/sample.ts'
import { createManualClock } from '../../support/memory/clock.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'

/** A log of two events, and stores in which a projection and a reaction have come to positions. */
async function fixture({ built, reacted }: { readonly built?: number; readonly reacted?: number }) {
  const [clock, log, ops] = [createManualClock(), createMemoryLog(), createMemoryOperationalStore()]
  for (const tally of ['tally-1', 'tally-2']) await appendTo(log, tally, clock.now(), tallyBegun('x'))
  const lane = (position: number) => ({ position, at: null, epoch: 1 })
  const store = {
    checkpoints: async () => ({
      // A position that is none of the log.
      columns: lane(3_502_511_079),
      ...(built === undefined ? {} : { 'one@1/00-7f': lane(0), 'one@1/80-ff': lane(built) }),
    }),
  }
  if (reacted !== undefined) await ops.put('reaction-position:flow/00-ff', { position: reacted, epoch: 1 }, null)
  return { head: await log.head(), refuse: () => refuseOlderLog({ log, store, ops, clock }) }
}

it('a log that has all that was read of it is accepted, and so is one of which nothing was read', async () => {
  const { head, refuse } = await fixture({})
  await expect(refuse()).resolves.toBeUndefined()
  const read = await fixture({ built: head, reacted: head })
  await expect(read.refuse()).resolves.toBeUndefined()
})

it.each([
  [{ built: 4, reacted: 3 }, 'the read models were built to position 4'],
  [{ built: 3, reacted: 4 }, 'the reactions have read to position 4'],
])('a log that ends before %j is refused', async (positions, sentence) => {
  const { refuse } = await fixture(positions)
  await expect(refuse()).rejects.toThrow(ConfigurationError)
  await expect(refuse()).rejects.toThrow(`The event log ends at position 3, and ${sentence}: this log is older`)
})
