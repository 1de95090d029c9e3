import { expect, test } from 'vitest'
import { lanes } from '../../../projections/supply/lanes.ts'
import { getLane } from '../../../queries/supply/get-lane.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { withPendingEvents } from '../../../src/runtime/queries/pending-events.ts'
import { callWorld } from '../../support/fixtures/call-world.ts'
import { NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'
import { campaignIn, publisherIn } from '../../support/fixtures/workspace-fixture.ts'
import { createMemoryOperationalStore } from '../../support/memory/operational-store.ts'
import { createMemoryReadStore } from '../../support/memory/read-store.ts'

test('a lane that has just been opened is read back before its projection has folded it', async () => {
  const { events } = callWorld()
  const [id, publisherId] = [campaignIn(events), publisherIn(events)]
  const stored = createMemoryReadStore()
  const answer = await getLane.run(
    {
      views: withPendingEvents(stored, [lanes], recordedEvents(workspace, events), {}),
      ops: createMemoryOperationalStore(),
      publicUrl: 'http://127.0.0.1',
      secrets: { seal: (value: string) => value, unseal: (value: string) => value },
    },
    { params: { id, publisherId }, query: {}, tenant: { workspaceId: WORKSPACE, timezone: 'UTC' }, now: NOW } as never,
  )
  expect(answer).toMatchObject({ lane: { publisherId } })
})
