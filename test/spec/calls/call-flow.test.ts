import { expect, it } from 'vitest'
import { endCall } from '../../../commands/calls/end-call.ts'
import { call } from '../../../src/domain/calls/call.ts'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import type { ReleaseCommand } from '../../../src/ports/carrier.ts'
import { callFlow } from '../../../src/reactions/call-flow.ts'
import type { FlowTools } from '../../../src/reactions/tools.ts'
import { callEventsOf, callWorld, noticeSteps, routeArrival } from '../../support/fixtures/call-world.ts'
import { noAuctions } from '../../support/fixtures/no-auctions.ts'
import { given, recordedEvents } from '../../support/fixtures/spec.ts'

/** The carrier's releases that follow from a call's end. */
async function releasesAfter(end: object): Promise<readonly ReleaseCommand[]> {
  const [, input] = noticeSteps.end(4 * 3_600)
  const { events } = given(call, callEventsOf(routeArrival(callWorld()))).when(endCall, { ...input, ...end })
  const releases: ReleaseCommand[] = []
  const tools: FlowTools = {
    ...noAuctions,
    auctionOf: async () => null,
    run: async () => null,
    now: () => Date.now(),
    carrier: {
      name: 'test',
      numbers: null,
      recordings: { open: async () => null },
      dial: async () => {},
      probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
      close: async () => {},
      release: async (command) => void releases.push(command),
    },
  }
  const steps = callFlow.on as Readonly<
    Record<string, ((tools: FlowTools, event: RecordedEvent) => Promise<unknown>) | undefined>
  >
  for (const event of recordedEvents(call, events)) await steps[event.type]?.(tools, event)
  return releases
}

it('hangs up at the carrier when the platform ends a call', async () => {
  expect(await releasesAfter({ hungUpBy: 'platform', terminated: true })).toMatchObject([
    { action: { kind: 'hangup' } },
  ])
})

it('sends the carrier nothing when the carrier reported the end', async () => {
  expect(await releasesAfter({})).toEqual([])
})
