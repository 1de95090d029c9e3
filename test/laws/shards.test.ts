import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../../commands/access/create-workspace.ts'
import { grantSeat } from '../../commands/access/grant-seat.ts'
import { registerUser } from '../../commands/access/register-user.ts'
import { credentials } from '../../projections/access/credentials.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import { partitionOf } from '../../src/kernel/partition.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import { createHistory, type GeneratedStep, stepsOf } from '../support/fixtures/history.ts'
import { project } from '../support/fixtures/project.ts'
import { projectInShards, type ShardedStart } from '../support/fixtures/project-in-shards.ts'
import { commands, entities, projections } from '../support/fixtures/registry.ts'
import { tallyTotals } from '../support/fixtures/sample.ts'
import { OWN_ID } from '../support/oracle/partitions.ts'

const anyTotals: AnyProjection = tallyTotals

/** Workspaces in three of the quarters of the partitions. */
const workspaces = ['1', '2', '7', '9'].map((digit) => `01900000-0000-7000-8000-00000000000${digit}`)

const starts: fc.Arbitrary<readonly ShardedStart[]> = fc.array(
  fc.record({
    shards: fc.constantFrom(1, 2, 4, 8, 64),
    taken: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
    lateOwners: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
)

/** Begins a history with a user, whose stream is partitioned by the user, on a seat of the workspace. */
async function seatOwner({ executeAccepted }: ReturnType<typeof createHistory>, workspaceId: string): Promise<void> {
  const [email, name] = [`owner@${workspaceId}.example`, 'Owner']
  await executeAccepted(createWorkspace, { name, planId: 'scale', timezone: 'UTC', sandbox: false })
  await executeAccepted(registerUser, { email, name, passwordHash: 'hash' })
  await executeAccepted(grantSeat, { email, name, role: 'owner' })
}

/** Events without those that repeat the secret of another stream's key: secrets are random, and only generated ones are equal. */
function withoutRepeatedSecrets(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const streams = new Map<string, string>()
  const lookedUp: AnyProjection = credentials
  return events.filter((event) => {
    const hashes = event.type in lookedUp.events ? [lookedUp.key(event) ?? []].flat() : []
    for (const hash of hashes) if (!streams.has(hash)) streams.set(hash, event.stream)
    return hashes.every((hash) => streams.get(hash) === event.stream)
  })
}

/** The events of a history in each workspace, as one log has them. */
async function logOf(histories: readonly (readonly GeneratedStep[])[]): Promise<readonly RecordedEvent[]> {
  const logs = await Promise.all(
    histories.map(async (steps, index) => {
      const workspaceId = workspaces[index] ?? ''
      const history = createHistory({ workspaceId, seed: 7 + index })
      await seatOwner(history, workspaceId)
      for (const step of steps) await history.executeStep(step)
      return history.log.events
    }),
  )
  const longest = Math.max(...logs.map(({ length }) => length))
  const inTurn = Array.from({ length: longest }, (_, at) => logs.flatMap((events) => events[at] ?? []))
  return withoutRepeatedSecrets(inTurn.flat()).map((event, index) => ({ ...event, position: index * 7 + 3 }))
}

const everyHistory = fc.tuple(...workspaces.map(() => stepsOf(commands, 40)))

/** The projections whose documents differ by the shards under which they are folded. */
async function differences(
  checked: readonly AnyProjection[],
  events: readonly RecordedEvent[],
  started: readonly ShardedStart[],
  atomic: boolean,
): Promise<readonly string[]> {
  const names: string[] = []
  for (const projection of checked) {
    const [whole, sharded] = [
      await project(projection, events),
      await projectInShards(projection, events, started, { atomic }),
    ]
    if (JSON.stringify(whole) !== JSON.stringify(sharded)) names.push(projection.name)
  }
  return names
}

/** Whose partition the stream of an event has: that of its workspace, or its own. */
function partitionOwnerOf(type: string): string {
  const names = entities.filter(({ events }) => type in events).map(({ name }) => name)
  const own = names.find((name) => OWN_ID.has(name))
  return own ?? 'workspace'
}

/** Projections of streams that are partitioned by different owners, and why none of their documents takes events of both. */
const KEPT_APART: Readonly<Record<string, string>> = {
  credentials: 'a key of the platform is created in its stream, and every other event is of a key of a workspace',
}

describe('every projection', () => {
  test('of streams that are partitioned by different owners has one lane, unless its documents keep them apart', () => {
    const mixed = projections.filter(({ events }) => new Set(Object.keys(events).map(partitionOwnerOf)).size > 1)
    expect(mixed.map(({ name }) => name).toSorted()).toEqual(['credentials', 'users'])
    for (const { name, partitioned } of mixed) expect([name, partitioned]).toEqual([name, name in KEPT_APART])
  })

  test(
    'gives the same documents by ranges of partitions, whatever their number and however often it changes',
    {
      timeout: 120_000,
    },
    () =>
      fc.assert(
        fc.asyncProperty(everyHistory, starts, fc.boolean(), async (histories, started, atomic) => {
          expect(await differences(projections, await logOf(histories), started, atomic)).toEqual([])
        }),
        { numRuns: 40 },
      ),
  )

  test('that has documents of several partitions says so: cut into ranges, it would miss events', async () => {
    const events = await logOf(
      workspaces.map((_, index) =>
        Array.from({ length: 40 }, (_step, seed) => ({
          name: seed % 2 ? 'begin-tally' : 'add-to-tally',
          seed: seed * 4 + index,
        })),
      ),
    )
    const cut = { shards: 4, taken: [40], lateOwners: false }
    expect(new Set(workspaces.map((id) => partitionOf(id) >> 6)).size).toBe(3)
    expect(await differences([tallyTotals], events, [cut], true)).toEqual([])
    const cutTotals: AnyProjection = { ...anyTotals, partitioned: true }
    expect(await differences([cutTotals], events, [cut], true)).toEqual(['tally-totals'])
  })
})
