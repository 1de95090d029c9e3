import fc from 'fast-check'
import type { AnyCommand } from '../../src/kernel/command.ts'
import type { Actor } from '../../src/kernel/event.ts'
import { isRefusal, type Refusal } from '../../src/kernel/refusal.ts'
import { foldForward } from '../../src/runtime/fold-forward.ts'
import type { Outcome } from '../../src/runtime/mailboxes.ts'
import { createStreamWriter } from '../../src/runtime/stream-writer.ts'
import { arbitraryOf, createPool, learn, type Pool } from './arbitrary.ts'
import { createManualClock } from './memory-clock.ts'
import { createMemoryLog } from './memory-event-log.ts'
import { createMemoryOperationalStore } from './memory-operational-store.ts'
import { createSeededRandom } from './memory-random.ts'
import { commands as everyCommand, projections } from './registry.ts'

/** A command to be given, and the seed of its input and of how much time passes before it. */
export interface Step {
  /** The command's name. */
  readonly name: string
  readonly seed: number
}

/** Steps of a history, in any order and number. */
export function stepsOf(commands: readonly AnyCommand[], most: number): fc.Arbitrary<readonly Step[]> {
  const names = commands.map(({ name }) => name)
  return fc.array(fc.record({ name: fc.constantFrom(...names), seed: fc.nat() }), { minLength: 1, maxLength: most })
}

/** What came of one step. */
export interface Given {
  readonly command: AnyCommand
  readonly input: unknown
  readonly commandId: string
  readonly outcome: Outcome | Refusal
}

/**
 * Adds the texts of what was accepted to the pool. Streams of calls and money take anything for an id, which must not
 * crowd out what is configured: they teach only what configuration never speaks of.
 */
function teach(pool: Pool, configured: Set<string>, { entity }: AnyCommand, values: readonly unknown[]): void {
  const heard: Pool = new Map()
  for (const value of values) learn(heard, value)
  for (const [name, texts] of heard) {
    if (entity.remembersCommands) configured.add(name)
    if (entity.remembersCommands || !configured.has(name)) for (const text of texts) learn(pool, text, name)
  }
}

const workspaceId = '01900000-0000-7000-8000-000000000001'
const byName = new Map(everyCommand.map((command) => [command.name, command]))
const actor: Actor = { type: 'system', id: null, name: 'Law' }

/** A world in memory, in which commands are given one after another through the stream writer. */
export function createHistory() {
  const [clock, log, ops, random] = [
    createManualClock(),
    createMemoryLog(),
    createMemoryOperationalStore(),
    createSeededRandom(7),
  ]
  const pool = createPool()
  pool.set('workspaceId', [workspaceId])
  const configured = new Set<string>()
  const memories = new Map(projections.map((projection) => [projection.name, projection]))
  const writer = createStreamWriter({
    log,
    ops,
    clock,
    random,
    async recall(memory, id) {
      const projection = memories.get(memory.name)
      return projection ? (foldForward(projection, id, null, log.events)?.doc ?? null) : null
    },
  })

  const give = (command: AnyCommand, input: unknown, commandId: string) =>
    writer.handle(command, input, {
      workspaceId,
      actor,
      commandId,
      correlationId: commandId,
      causationId: null,
      surface: 'law',
      ip: null,
    })

  return {
    log,
    give,
    /** Gives a command that none would be made up for, and has its values taken up again as the latest. */
    async meet(command: AnyCommand, input: unknown): Promise<void> {
      const outcome = await give(command, command.input.parse(input), random.uuid())
      if (isRefusal(outcome)) throw new Error(`${command.name}: ${outcome.refused}`)
      teach(pool, configured, command, [input])
    },
    /** Gives a step's command a generated input; null when the input's own schema refuses it. Rejects when deciding throws. */
    async take({ name, seed }: Step): Promise<Given | null> {
      const command = byName.get(name)
      if (!command) throw new TypeError(`No command is called ${name}.`)
      const [raw] = fc.sample(arbitraryOf(command.input, pool), { seed, numRuns: 1 })
      const parsed = command.input.safeParse(raw)
      if (!parsed.success) return null
      await clock.advance(seed % 3 === 0 ? 3_600_000 : 1_000)
      const commandId = random.uuid()
      const outcome = await give(command, parsed.data, commandId)
      // What changed nothing was of something else, or is known already.
      if (!isRefusal(outcome) && outcome.events.length > 0) {
        teach(pool, configured, command, [parsed.data, ...outcome.events.map(({ data }) => data)])
      }
      return { command, input: parsed.data, commandId, outcome }
    },
  }
}
