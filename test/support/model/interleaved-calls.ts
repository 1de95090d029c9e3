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
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { DialCommand, ReleaseCommand } from '../../../src/ports/carrier.ts'
import { callFlow } from '../../../src/reactions/call-flow.ts'
import type { FlowTools } from '../../../src/reactions/tools.ts'
import { emptyFold, type Fold, foldEvents } from '../../../src/runtime/write/fold.ts'
import { DIALED, instantAfter, nthCallId } from '../fixtures/call-world.ts'
import { idOf, NOW, recordedEvents, WORKSPACE } from '../fixtures/spec.ts'

type Task = () => Promise<void>
const OUTCOMES = ['no_answer', 'busy', 'rejected', 'failed'] as const
/** How many tasks of one run may run twice. */
const REPEATS = 30

/**
 * Plays calls on one ledger, with notices, commands and reactions in a random order and some of them twice. Calls
 * `onLedgerChange` after each change of the ledger.
 */
export async function playInterleavedCalls(
  world: { readonly workspace: WorkspaceState; readonly wallet: unknown },
  calls: readonly { readonly at: string; readonly caller: string | null; readonly impatient: boolean }[],
  random: () => number,
  onLedgerChange: (state: LedgerState) => void,
) {
  const fixed = new Map<string, unknown>([
    [workspace.name, world.workspace],
    [blocklist.name, blocklist.initial],
    [wallet.name, world.wallet],
  ])
  const folds = new Map<string, Fold>()
  const events: RecordedEvent[] = []
  const dialled: DialCommand[] = []
  const tasks: Task[] = []
  const elapsed = new Map<string, number>()
  let repeats = REPEATS

  const pick = (count: number) => Math.floor(random() * count)
  /** The next instant of a call on the carrier's clock. */
  const tick = (callId: string, seconds: number) => {
    const sum = (elapsed.get(callId) ?? 0) + seconds
    elapsed.set(callId, sum)
    return instantAfter(sum, calls.find((_, n) => nthCallId(n) === callId)?.at)
  }

  async function handle(command: AnyCommand, input: unknown): Promise<void> {
    const stream = streamOf(command.entity, command.id(input, WORKSPACE))
    const fold = folds.get(stream) ?? emptyFold(command.entity)
    let minted = 0
    const outcome: readonly NewEvent[] | ReturnType<typeof command.decide> = command.decide(input, fold.state, {
      now: NOW,
      workspaceId: WORKSPACE,
      actor: { type: 'system', id: null, name: 'Model' },
      commandId: 'command',
      newId: () => idOf(minted++),
      seed: pick(2 ** 32),
      reads: Object.fromEntries(Object.keys(command.reads).map((name) => [name, fixed.get(name)])),
      revisions: {},
      lookUp: () => null,
    })
    if (isRefusal(outcome)) {
      // A notice that came before the arrival is delivered again, as by a carrier.
      if (outcome.refused !== 'call-not-found') throw new Error(`${command.name}: ${outcome.refused}`)
      tasks.push(() => handle(command, input))
      return
    }
    const written = recordedEvents(command.entity, outcome, { from: fold.revision + 1 }).map((event) => ({
      ...event,
      stream,
    }))
    for (const event of written) command.entity.events[event.type]?.parse(event.data)
    folds.set(stream, foldEvents(command.entity, fold, written))
    events.push(...written)
    if (command.entity.name === ledger.name && written.length > 0)
      onLedgerChange(folds.get(stream)?.state as LedgerState)
    for (const event of written) tasks.push(() => react(event))
  }

  const flow = callFlow.on as Readonly<
    Record<string, ((tools: FlowTools, event: RecordedEvent) => Promise<unknown>) | undefined>
  >
  async function react(event: RecordedEvent): Promise<void> {
    await flow[event.type]?.(tools, event)
  }

  const tell = (command: AnyCommand, input: object) =>
    void tasks.push(() => handle(command, command.input.parse(input)))
  const ends = (callId: string, seconds: number) =>
    tell(endCall, { callId, hungUpBy: 'caller', recorded: true, occurredAt: tick(callId, seconds) })

  const tools: FlowTools = {
    async run(command, input) {
      tasks.push(() => handle(command, input))
      return null
    },
    now: () => Number.POSITIVE_INFINITY,
    carrier: {
      name: 'model',
      numbers: null,
      recordings: { open: async () => null },
      close: async () => {},
      probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
      async dial(order) {
        const { callId, attempt } = order
        dialled.push(order)
        if (pick(2) === 0) {
          tell(recordAnswer, { callId, attempt, whisperAccepted: null, occurredAt: tick(callId, pick(10)) })
          ends(callId, pick(60))
        } else {
          const told = { sipCode: null, retryAfterSeconds: null, whisperAccepted: null }
          const outcome = OUTCOMES[pick(OUTCOMES.length)] ?? 'failed'
          tell(recordFailure, { callId, attempt, outcome, ...told, occurredAt: tick(callId, pick(40)) })
        }
      },
      async release({ callId }: ReleaseCommand) {
        ends(callId, 1)
      },
    },
  }

  calls.forEach(({ at, caller, impatient }, n) => {
    const callId = nthCallId(n)
    tell(routeCall, { callId, carrierCallId: `carrier-${n}`, to: DIALED, caller, occurredAt: at })
    if (impatient) ends(callId, pick(30))
  })
  while (tasks.length > 0) {
    const at = pick(tasks.length)
    const task = tasks[at]
    if (repeats > 0 && pick(5) === 0) repeats -= 1
    else tasks.splice(at, 1)
    await task?.()
  }
  const state = folds.get(streamOf(ledger, WORKSPACE))?.state as LedgerState
  return { state, events, dialled }
}
