import { endCall } from '../../../commands/calls/end-call.ts'
import { recordAnswer } from '../../../commands/calls/record-answer.ts'
import { recordFailure } from '../../../commands/calls/record-failure.ts'
import { routeCall } from '../../../commands/routing/route-call.ts'
import { type WorkspaceState, workspace } from '../../../src/domain/configuration/workspace.ts'
import { wallet } from '../../../src/domain/money/wallet.ts'
import { blocklist } from '../../../src/domain/routing/blocklist.ts'
import { type LedgerState, ledger } from '../../../src/domain/routing/ledger.ts'
import type { AnyCommand } from '../../../src/kernel/command.ts'
import { streamOf } from '../../../src/kernel/entity.ts'
import type { NewEvent, RecordedEvent } from '../../../src/kernel/event.ts'
import { isRefusal, type Refusal } from '../../../src/kernel/refusal.ts'
import type { DialCommand, ReleaseCommand } from '../../../src/ports/carrier.ts'
import { callFlow } from '../../../src/reactions/call-flow.ts'
import type { FlowTools } from '../../../src/reactions/tools.ts'
import { emptyFold, type Fold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { DIALED, instantAfter, nthCallId } from '../fixtures/call-world.ts'
import { noAuctions } from '../fixtures/no-auctions.ts'
import { idOf, NOW, recordedEvents, WORKSPACE } from '../fixtures/spec.ts'

type Task = () => Promise<void>
/** Draws a whole number below `count`. */
type Draw = (count: number) => number

interface InterleavedCall {
  readonly at: string
  readonly caller: string | null
  readonly impatient: boolean
}

const OUTCOMES = ['no_answer', 'busy', 'rejected', 'failed'] as const
/** How many tasks of one run may run twice. */
const REPEATS = 30

/** Executes commands on streams in memory, over fixed states of the streams that they only read. */
function createMemoryExecutor(fixed: ReadonlyMap<string, unknown>, pick: Draw) {
  const folds = new Map<string, Fold>()
  const events: RecordedEvent[] = []

  function execute(command: AnyCommand, input: unknown): readonly RecordedEvent[] | Refusal {
    const stream = streamOf(command.entity, command.id(input, WORKSPACE), WORKSPACE)
    const fold = folds.get(stream) ?? emptyFold(command.entity)
    let ids = 0
    const outcome: readonly NewEvent[] | ReturnType<typeof command.decide> = command.decide(input, fold.state, {
      now: NOW,
      workspaceId: WORKSPACE,
      actor: { type: 'system', id: null, name: 'Model' },
      commandId: 'command',
      newId: () => idOf(ids++),
      seed: pick(2 ** 32),
      reads: Object.fromEntries(Object.keys(command.reads).map((name) => [name, fixed.get(name)])),
      revisions: {},
      lookUp: () => null,
    })
    if (isRefusal(outcome)) return outcome
    const written = recordedEvents(command.entity, outcome, { from: fold.revision + 1 }).map((event) => ({
      ...event,
      stream,
    }))
    for (const event of written) command.entity.events[event.type]?.parse(event.data)
    folds.set(stream, foldEvents(command.entity, fold, written))
    events.push(...written)
    return written
  }

  return { execute, events, ledger: () => folds.get(streamOf(ledger, WORKSPACE))?.state as LedgerState }
}

/** Runs all tasks, also those that they add, in a random order, and some of them twice. */
async function runInRandomOrder(tasks: Task[], pick: Draw): Promise<void> {
  let repeats = REPEATS
  while (tasks.length > 0) {
    const at = pick(tasks.length)
    const task = tasks[at]
    if (repeats > 0 && pick(5) === 0) repeats -= 1
    else tasks.splice(at, 1)
    await task?.()
  }
}

/** The network of a run: callers that arrive and hang up, and a carrier whose dials end at random. */
function createNetwork(
  calls: readonly InterleavedCall[],
  pick: Draw,
  send: (command: AnyCommand, input: object) => void,
) {
  const dialled: DialCommand[] = []
  const elapsed = new Map<string, number>()

  /** The next instant of a call on the carrier's clock. */
  const tick = (callId: string, seconds: number) => {
    const sum = (elapsed.get(callId) ?? 0) + seconds
    elapsed.set(callId, sum)
    return instantAfter(sum, calls.find((_, n) => nthCallId(n) === callId)?.at)
  }
  const end = (callId: string, seconds: number) =>
    send(endCall, { callId, hungUpBy: 'caller', recorded: true, occurredAt: tick(callId, seconds) })

  const carrier: FlowTools['carrier'] = {
    name: 'model',
    numbers: null,
    recordings: { open: async () => null },
    close: async () => {},
    probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
    async dial(order) {
      const { callId, attempt } = order
      dialled.push(order)
      if (pick(2) === 0) {
        send(recordAnswer, { callId, attempt, whisperAccepted: null, occurredAt: tick(callId, pick(10)) })
        end(callId, pick(60))
      } else {
        const unknown = { sipCode: null, retryAfterSeconds: null, whisperAccepted: null }
        const outcome = OUTCOMES[pick(OUTCOMES.length)] ?? 'failed'
        send(recordFailure, { callId, attempt, outcome, ...unknown, occurredAt: tick(callId, pick(40)) })
      }
    },
    async release({ callId }: ReleaseCommand) {
      end(callId, 1)
    },
  }

  return {
    carrier,
    dialled,
    /** Lets all callers call, and the impatient ones hang up. */
    arrive() {
      for (const [n, { at, caller, impatient }] of calls.entries()) {
        const callId = nthCallId(n)
        send(routeCall, { callId, carrierCallId: `carrier-${n}`, to: DIALED, caller, occurredAt: at })
        if (impatient) end(callId, pick(30))
      }
    },
  }
}

/**
 * Plays calls on one ledger, with notices, commands and reactions in a random order and some of them twice. Calls
 * `onLedgerChange` after each change of the ledger.
 */
export async function playInterleavedCalls(
  world: { readonly workspace: WorkspaceState; readonly wallet: unknown },
  calls: readonly InterleavedCall[],
  random: () => number,
  onLedgerChange: (state: LedgerState) => void,
) {
  const fixed = new Map<string, unknown>([
    [workspace.name, world.workspace],
    [blocklist.name, blocklist.initial],
    [wallet.name, world.wallet],
  ])
  const tasks: Task[] = []
  const pick: Draw = (count) => Math.floor(random() * count)
  const executor = createMemoryExecutor(fixed, pick)

  async function handle(command: AnyCommand, input: unknown): Promise<void> {
    const outcome = executor.execute(command, input)
    if (isRefusal(outcome)) {
      // A notice that came before the arrival is delivered again, as by a carrier.
      if (outcome.refused !== 'call-not-found') throw new Error(`${command.name}: ${outcome.refused}`)
      tasks.push(() => handle(command, input))
      return
    }
    if (command.entity.name === ledger.name && outcome.length > 0) onLedgerChange(executor.ledger())
    for (const event of outcome) tasks.push(() => react(event))
  }

  const flow = callFlow.on as Readonly<
    Record<string, ((tools: FlowTools, event: RecordedEvent) => Promise<unknown>) | undefined>
  >
  async function react(event: RecordedEvent): Promise<void> {
    await flow[event.type]?.(tools, event)
  }

  const network = createNetwork(calls, pick, (command, input) => {
    tasks.push(() => handle(command, command.input.parse(input)))
  })
  const tools: FlowTools = {
    ...noAuctions,
    auctionOf: async () => null,
    async run(command, input) {
      tasks.push(() => handle(command, input))
      return null
    },
    now: () => Number.POSITIVE_INFINITY,
    carrier: network.carrier,
  }

  network.arrive()
  await runInRandomOrder(tasks, pick)
  return { state: executor.ledger(), events: executor.events, dialled: network.dialled }
}
