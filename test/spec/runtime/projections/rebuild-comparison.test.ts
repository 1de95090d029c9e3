import { afterEach, describe, expect, test } from 'vitest'
import { collectionOf } from '../../../../src/kernel/projection.ts'
import type { EventLog } from '../../../../src/ports/event-log.ts'
import type { Doc, ReadStore } from '../../../../src/ports/read-store.ts'
import { withActiveBuilds } from '../../../../src/runtime/projections/active-builds.ts'
import { buildsOf, readAlias } from '../../../../src/runtime/projections/build-alias.ts'
import { requestRebuild } from '../../../../src/runtime/projections/build-lifecycle.ts'
import {
  type RebuildOptions,
  type RebuildResult,
  rebuildProjections,
} from '../../../../src/runtime/projections/rebuild-projections.ts'
import { documentWrite } from '../../../support/fixtures/documents.ts'
import {
  expectedTotals,
  projectionFixture,
  stopRunners,
  tallyProjections,
} from '../../../support/fixtures/projection-fixture.ts'
import { tallyTotals } from '../../../support/fixtures/sample.ts'
import { advanceUntil } from '../../../support/memory/clock.ts'
import { ownEverything } from '../../../support/memory/ownership.ts'

const totals = collectionOf(tallyTotals)

afterEach(stopRunners)

/** A document of a read model, changed behind its projection's back. */
async function tamper(store: ReadStore, id: string, doc: Doc | null): Promise<void> {
  const position = ((await store.get(totals, id))?.position ?? 0) + 0.5
  const write = documentWrite(totals, { id, doc, workspaceId: id }, position)
  await store.commit([write], { name: `tampering ${id}`, expected: null, next: { position: 0, at: null } })
}

/** A projected world without a server. */
async function projected(events: number) {
  const fixture = projectionFixture()
  await fixture.fill(0, events)
  const server = fixture.start()
  await server.at()
  server.stop.abort()
  await server.done
  return fixture
}

type Fixture = Awaited<ReturnType<typeof projected>>

/** Rebuilds the totals by a script to its end. */
async function rebuild(
  { clock, log, store }: Pick<Fixture, 'clock' | 'store'> & { readonly log: EventLog },
  more: Partial<RebuildOptions>,
): Promise<RebuildResult | undefined> {
  let results: readonly RebuildResult[] | null = null
  const options = { log, store, ownership: ownEverything(), projections: [tallyTotals], clock }
  const rebuilding = rebuildProjections({ ...options, signal: new AbortController().signal, ...more })
  void rebuilding.then((done) => {
    results = done
  })
  await advanceUntil(clock, () => results !== null, 60_000)
  return (await rebuilding)[0]
}

const read = async ({ store, clock }: Fixture) => (await withActiveBuilds(store, clock).get(totals, 'all'))?.doc

describe.each(['keep', 'replace'] as const)('a rebuild that compares (a difference: %s)', (onDifference) => {
  test('switches where the documents are the same, and says their hash', async () => {
    const fixture = await projected(20)
    const result = await rebuild(fixture, { onDifference })
    expect(result).toMatchObject({ switched: true, comparison: { documents: 2, differences: 0, differing: [] } })
    expect(result?.comparison?.activeHash).toBe(result?.comparison?.newHash)
    expect(fixture.store.all('tally-totals_v1~2')).toEqual(expectedTotals(20))
    expect(await readAlias(fixture.store, 'tally-totals')).toMatchObject({ versions: [{ building: null }] })
  })

  test.each([
    ['a changed document', 'all', { workspaceId: 'all', begun: 7, added: 7 }],
    ['a document too many', 'forged', { workspaceId: 'forged', begun: 7, added: 7 }],
    ['a missing document', 'all', null],
  ])('tells of %s, and does with it as it was told', async (_name, id, doc) => {
    const fixture = await projected(20)
    await tamper(fixture.store, id, doc)
    const before = await read(fixture)
    const switched = onDifference === 'replace'
    const result = await rebuild(fixture, { onDifference })
    expect(result).toMatchObject({ switched, comparison: { differences: 1, differing: [id] } })
    expect(result?.comparison?.activeHash).not.toBe(result?.comparison?.newHash)
    await fixture.clock.advance(1_000)
    expect(await read(fixture)).toEqual(switched ? expectedTotals(20).all : before)
    const alias = await readAlias(fixture.store, 'tally-totals')
    expect(alias && buildsOf(alias, 1).building).toBeNull()
    expect(alias?.retired.map(({ collection }) => collection)).toEqual([switched ? totals : 'tally-totals_v1~2'])
  })
})

test('a rebuild that compares is not misled by events that are appended meanwhile', async () => {
  const { clock, log, store, fill, join, contend } = projectionFixture()
  await fill(0, 30)
  const server = await join('server:1')
  await server.at()
  const { ownership } = await contend('script:1')
  let n = 30
  const busy: EventLog = {
    ...log,
    async head() {
      if (n < 60) await fill(n, ++n)
      return log.head()
    },
  }
  const result = await rebuild(
    { clock, log: busy, store },
    { ownership, onDifference: 'keep', projections: [tallyTotals] },
  )
  expect(result).toMatchObject({ switched: true, comparison: { differences: 0 } })
  await server.end()
})

test('a build that is held is switched by nobody else, and by everybody once it is not', async () => {
  const { store, start, fill, clock } = projectionFixture()
  await fill(0, 10)
  const server = start()
  await server.at()
  expect(await requestRebuild(store, tallyTotals, { held: true })).toBe(true)
  await clock.advance(10_000)
  const held = await readAlias(store, 'tally-totals')
  expect(held && buildsOf(held, 1)).toMatchObject({ active: { collection: totals }, held: true })
  expect(await requestRebuild(store, tallyTotals)).toBe(false)
  await clock.advance(3_000)
  const after = await readAlias(store, 'tally-totals')
  expect(after && buildsOf(after, 1)).toEqual({
    version: 1,
    active: expect.objectContaining({ collection: 'tally-totals_v1~2' }),
    building: null,
  })
})

test('a rebuild that was killed goes on from its checkpoints, and leaves the same', async () => {
  const fixture = await projected(400)
  const { clock, log, store } = fixture
  const killed = new AbortController()
  const options = { log, store, projections: tallyProjections, clock, pageSize: 50, catchUpPageSize: 50 }
  const dying: ReadStore = {
    ...store,
    async commit(writes, move) {
      const isFar = (await store.checkpoints('tally-totals@1~2'))['tally-totals@1~2/00-ff']
      if (isFar && isFar.position > 300) killed.abort()
      if (killed.signal.aborted) return new Promise(() => undefined)
      return store.commit(writes, move)
    },
  }
  void rebuildProjections({
    ...options,
    store: dying,
    ownership: ownEverything(),
    signal: new AbortController().signal,
    onDifference: 'keep',
  }).catch(() => undefined)
  await advanceUntil(clock, () => killed.signal.aborted, 60_000)
  const half = (await store.checkpoints('tally-totals@1~2'))['tally-totals@1~2/00-ff']?.position ?? 0
  expect(half).toBeGreaterThan(300)
  expect(half).toBeLessThan((await log.head()) - 100)
  expect(await read(fixture)).toEqual(expectedTotals(400).all)

  const from: number[] = []
  const watched: EventLog = {
    ...log,
    readAll(after, limit, filter) {
      from.push(after)
      return log.readAll(after, limit, filter)
    },
  }
  const result = await rebuild({ clock, log: watched, store }, { onDifference: 'keep' })
  expect(Math.min(...from)).toBeGreaterThanOrEqual(half)
  expect(result).toMatchObject({ switched: true, comparison: { differences: 0 } })
  expect(store.all('tally-totals_v1~2')).toEqual(expectedTotals(400))
})
