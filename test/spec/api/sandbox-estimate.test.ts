import { expect, test } from 'vitest'
import { playCall, type SandboxPorts, sandboxCall } from '../../../src/api/sandbox.ts'
import { systemRandom } from '../../../src/main/system.ts'
import { laneNumber } from '../../support/fixtures/auctions.ts'
import { callWorld } from '../../support/fixtures/call-world.ts'
import { noAuctions } from '../../support/fixtures/no-auctions.ts'
import { NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { commandCall } from '../../support/fixtures/writer-fixture.ts'
import { createManualClock } from '../../support/memory/clock.ts'

const world = callWorld()
const { e164: to } = laneNumber(world)

/** Plays an instant call whose `at` is `agoMs` milliseconds before now. Resolves to the number of estimates of its length. */
async function estimatesOf(agoMs: number, more: object): Promise<number> {
  let estimates = 0
  const writer = {
    recentStateOf: async () => world.reads.workspace,
    cachedStateOf: () => ({ arrival: { ref: 'CA-0000000001' } }),
    dryRun: async () => {
      estimates += 1
      return []
    },
  }
  const ports = {
    ...noAuctions,
    writer,
    simulator: { place: async () => undefined },
    leaseOf: async () => null,
    clock: createManualClock(Date.parse(NOW)),
    random: systemRandom,
  } as unknown as SandboxPorts
  const at = new Date(Date.parse(NOW) - agoMs).toISOString()
  await playCall(ports, WORKSPACE, sandboxCall.parse({ to, mode: 'instant', at, ...more }), commandCall('key'))
  return estimates
}

test.each([
  ['of the longest routing and talk', {}, 240_000],
  ['with a longer talk', { script: { [world.targetId()]: [{ result: 'answer', talkSeconds: 100 }] } }, 280_000],
  ['whose caller hangs up', { callerHangsUpAfterSeconds: 30 }, 30_000],
])('a call %s is estimated only where it may end after now', async (_what, more, longestMs) => {
  expect(await estimatesOf(longestMs, more)).toBe(0)
  expect(await estimatesOf(longestMs - 1, more)).toBe(1)
})
