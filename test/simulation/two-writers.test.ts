import { expect, test } from 'vitest'
import type { Actor } from '../../src/kernel/event.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import type { CommandContext } from '../../src/ports/command-handler.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { addToTally, beginTally, closeTally } from '../support/fixtures/sample.ts'
import { idOf, WORKSPACE } from '../support/fixtures/spec.ts'
import { createManualClock, withPromptWakes } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const SYSTEM: Actor = { type: 'system', id: null, name: 'Ringledger' }
const tallyId = idOf(1)

let calls = 0
function someCall(): CommandContext {
  calls += 1
  const commandId = `command-${calls}`
  const names = { commandId, correlationId: commandId, causationId: null, surface: 'test', ip: null }
  return { workspaceId: WORKSPACE, actor: SYSTEM, ...names }
}

/** Writers of two processes over one log. */
function writers(log: EventLog) {
  const ops = createMemoryOperationalStore()
  const clock = withPromptWakes(createManualClock())
  return [1, 2].map((seed) => {
    const writer = createStreamWriter({ log, ops, clock, random: createSeededRandom(seed), lookUp: async () => null })
    return (command: Parameters<typeof writer.handle>[0], input: unknown) => writer.handle(command, input, someCall())
  })
}

test('a refusal is decided on the latest events, including those of another process', async () => {
  const [one, other] = writers(createMemoryLog())
  expect(isRefusal(await other?.(addToTally, { tallyId, amount: 1 }))).toBe(true)
  await one?.(beginTally, { tallyId, name: 'calls' })
  expect(isRefusal(await other?.(addToTally, { tallyId, amount: 1 }))).toBe(false)
})

test('a command that another process has executed changes nothing', async () => {
  const log = createMemoryLog()
  const [one, other] = writers(log)
  await one?.(beginTally, { tallyId, name: 'calls' })
  await other?.(closeTally, { tallyId })
  expect(await one?.(addToTally, { tallyId, amount: 1 })).toMatchObject({ refused: 'tally-closed' })
  expect(await one?.(closeTally, { tallyId })).toMatchObject({ events: [] })
  expect(log.events.map(({ type }) => type)).toEqual(['TallyBegun', 'TallyClosed'])
})
