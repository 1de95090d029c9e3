import { expect, test } from 'vitest'
import { workspaceWrites } from '../../../src/api/writes/workspace.ts'
import { workspace } from '../../../src/domain/configuration/workspace.ts'
import { streamOf } from '../../../src/kernel/entity.ts'
import { isRefusal, refuse } from '../../../src/kernel/refusal.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { QueryRequest } from '../../../src/runtime/queries/query-runner.ts'
import { withNextPosition } from '../../../src/runtime/write/next-position.ts'
import { consoleRequest } from '../../support/fixtures/console-request.ts'
import { eventToAppend, someEvent } from '../../support/fixtures/events.ts'
import { NOW, WORKSPACE } from '../../support/fixtures/spec.ts'
import { createWriterFixture, seedLiveCampaign } from '../../support/fixtures/writer-fixture.ts'
import { flushEventLoop } from '../../support/memory/clock.ts'
import { createMemoryLog } from '../../support/memory/event-log.ts'
import { createSeededRandom } from '../../support/memory/random.ts'

/** What is done to the log right before an append, and how queries answer. */
interface Circumstances {
  readonly beforeAppend?: (log: EventLog) => Promise<unknown>
  readonly isAhead?: boolean
  readonly fault?: Error
  /** Whether the first question throws before it is sent. */
  readonly throwsFirst?: boolean
}

/** Renames the workspace, over a log without gaps. */
async function rename({ beforeAppend, isAhead = true, fault, throwsFirst = false }: Circumstances) {
  const shared = createMemoryLog([], 1)
  const { ops, clock, writer } = createWriterFixture(shared)
  await seedLiveCampaign(shared)
  const { log, nextPosition } = withNextPosition(shared, await shared.head())
  const asked: QueryRequest[] = []
  const waited: number[] = []
  const acknowledged: (readonly [string, number])[] = []
  let interfere = beforeAppend
  const tools = {
    writer: writer({
      nextPosition,
      log: {
        ...log,
        async append(...appended) {
          const once = interfere
          interfere = undefined
          // An append takes longer than a turn of the event loop.
          await flushEventLoop()
          await once?.(shared)
          return log.append(...appended)
        },
      },
    }),
    queries: {
      run: (request: QueryRequest) => {
        asked.push(request)
        if (throwsFirst && asked.length === 1) throw new RangeError('before it is sent')
        if (fault) return Promise.reject(fault)
        const bytes = new TextEncoder().encode(JSON.stringify({ workspace: { name: `answer ${asked.length}` } }))
        return Promise.resolve({ bytes, position: null, lag: false, isAhead, revision: null })
      },
    },
    positions: {
      waitFor: async (_names: unknown, position: number) => {
        waited.push(position)
        return true
      },
    },
    acknowledge: (...write: readonly [string, number]) => void acknowledged.push(write),
    projections: [],
    clock,
    ops,
    random: createSeededRandom(),
  }
  const [route] = workspaceWrites.flatMap((define) => define(tools as never))
  const answer = route?.run(consoleRequest({}, route.body?.parse({ name: `At ${NOW}` })))
  const answered = (await answer) ?? refuse('not-found')
  if (isRefusal(answered)) throw new Error(answered.refused)
  return { answered, asked, waited, acknowledged, head: await shared.head() }
}

test('the query of a write is prefetched beside its append, and answers it where the events are those expected', async () => {
  const { answered, asked, waited, acknowledged, head } = await rename({})
  expect(asked).toMatchObject([{ minPosition: head, events: [{ position: head }] }])
  expect(answered).toMatchObject({ body: { workspace: { name: 'answer 1' } }, position: head })
  expect(acknowledged).toEqual([[WORKSPACE, head]])
  expect(waited).toEqual([])
})

test('the write waits for the projections where its query did not go ahead of them', async () => {
  const { asked, waited, acknowledged, head } = await rename({ isAhead: false })
  expect([asked.length, waited, acknowledged]).toEqual([1, [head], []])
})

test('the query is asked again where somebody appended before the write', async () => {
  const beforeAppend = (log: EventLog) => log.append('other-00-a', -1, [someEvent({})])
  const { answered, asked, acknowledged, head } = await rename({ beforeAppend })
  expect(asked.map(({ minPosition }) => minPosition)).toEqual([head - 1, head])
  expect(answered).toMatchObject({ body: { workspace: { name: 'answer 2' } } })
  expect(acknowledged).toEqual([[WORKSPACE, head]])
})

test('the query is prefetched again where the write is decided again after a conflict', async () => {
  const beforeAppend = async (log: EventLog) => {
    const held = await log.read(streamOf(workspace, WORKSPACE, WORKSPACE), 0)
    const last = held.at(-1)
    if (last) await log.append(last.stream, last.revision, [eventToAppend(last)])
  }
  const { answered, asked, head } = await rename({ beforeAppend })
  expect(asked.map(({ minPosition }) => minPosition)).toEqual([head - 1, head - 1, head])
  expect(answered).toMatchObject({ body: { workspace: { name: 'answer 3' } } })
})

test('a prefetched query that fails is the fault of the answer, as any that reads a write back', async () => {
  const fault = new RangeError('a fault')
  expect((await rename({ fault })).answered).toMatchObject({ status: 200, body: {}, fault })
})

test('a prefetch that throws harms neither its write nor others of the same append', async () => {
  const { answered, asked, head } = await rename({ throwsFirst: true })
  expect(asked.map(({ minPosition }) => minPosition)).toEqual([head, head])
  expect(answered).toMatchObject({ status: 200, position: head })
})
