import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { streams } from '../../src/verify/stream-check.ts'
import { someEvent } from '../support/fixtures/events.ts'
import { runCheck } from '../support/fixtures/run-check.ts'
import { added, addToTally, namedStream, tally, tallyBegun } from '../support/fixtures/sample.ts'
import { commandCall } from '../support/fixtures/writer-fixture.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { eventStoreUrl } from '../support/servers.ts'

const url = eventStoreUrl()
const WORKSPACE = 'w1'
const EVENTS = 6
const KEPT = 2

describe.runIf(url)('a stream of EventStoreDB whose first events are given up', () => {
  const tallyId = randomUUID()
  const stream = namedStream(`tally-${tallyId}`, WORKSPACE)
  let log: EventLog
  let before: number
  let settings = 0
  /** Sets the stream's retention: the metadata of a stream is the last event of another. */
  async function retain(retention: object): Promise<void> {
    expect(await log.append(`$$${stream}`, settings - 1, [someEvent(retention, '$metadata')])).toMatchObject({
      ok: true,
    })
    settings += 1
  }
  beforeAll(async () => {
    log = await openEventStoreDb(url ?? '')
    before = await log.head()
    const events = [tallyBegun('one'), ...[1, 2, 3, 4, 5].map(added)].map(({ type, data }) => someEvent(data, type))
    await log.append(stream, -1, events)
    await retain({ $maxCount: KEPT })
  })
  afterAll(async () => {
    // Until the server scavenges, nothing is gone: other suites find the log whole.
    await retain({})
    expect(await revisionsFrom(0)).toHaveLength(EVENTS)
    await log?.close()
  })

  const writer = () =>
    createStreamWriter({ log, ops: createMemoryOperationalStore(), clock, random, lookUp: async () => null })
  const revisionsFrom = async (from: number, limit?: number) =>
    (await log.read(stream, from, limit)).map(({ revision }) => revision)
  const kept = [EVENTS - 2, EVENTS - 1]

  test('is read from its first event that is left, each once', async () => {
    expect(await revisionsFrom(0)).toEqual(kept)
    expect(await revisionsFrom(0, 1)).toEqual(kept.slice(0, 1))
    expect(await revisionsFrom(EVENTS - 1)).toEqual(kept.slice(1))
  })

  test('is not folded, and no command is decided on it', async () => {
    const sentence = `Stream ${stream} goes on with revision ${EVENTS - 2} after nothing`
    await expect(writer().stateOf(tally, tallyId, WORKSPACE)).rejects.toThrow(sentence)
    const command = writer().handle(
      addToTally,
      { tallyId, amount: 1 },
      { ...commandCall('more'), workspaceId: WORKSPACE },
    )
    await expect(command).rejects.toThrow(sentence)
    expect(await revisionsFrom(0)).toEqual(kept)
  })

  test('is as one that never was where no event is left', async () => {
    await retain({ $tb: EVENTS })
    expect(await revisionsFrom(0)).toEqual([])
    const input = { tallyId, amount: 1 }
    const context = { ...commandCall('late'), workspaceId: WORKSPACE }
    expect(await writer().handle(addToTally, input, context)).toMatchObject({ refused: 'tally-not-found' })
  })

  test('is in the log whole until the server scavenges; then the check of streams finds what is missing', async () => {
    const { events } = await log.readAll(before, 100, { kinds: new Set([tally.name]) })
    const own = events.filter((event) => event.stream === stream)
    expect(own.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5])
    expect(runCheck(streams, own)).toEqual([])
    const left = own.slice(-KEPT)
    expect(runCheck(streams, left)).toEqual([
      `${stream}@${EVENTS - 2} follows nothing: revisions 0 to ${EVENTS - 3} are missing`,
    ])
  })
})
