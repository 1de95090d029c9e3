import { LRUCache } from 'lru-cache'
import { type BackOff, backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage } from '../../kernel/async/errors.ts'
import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import type { PartitionRange } from '../../kernel/partition.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Claimant, claimWork } from '../ownership/claims.ts'
import type { Ownership } from '../ownership/ownership.ts'
import { startRunLoop } from '../run-loop.ts'
import { type DueItem, type Receiver, runPass } from './queue-pass.ts'
import { newQueueState, type QueueState, rowsToRead, unsentItems } from './queue-state.ts'
import { createSlots } from './slots.ts'

/** A queue with something that waits. */
export interface WaitingQueue {
  readonly id: string
  readonly workspaceId: string
  /** Changes whenever something is added to the queue. */
  readonly version: number
}

/** The queues of a kind of dispatcher, and how their items are sent. */
export interface DispatchPorts {
  /** The queues of these partitions in which something waits. @throws StoreUnavailable */
  readonly queues: (ranges: readonly PartitionRange[]) => Promise<readonly WaitingQueue[]>
  /** The items of a queue that are due, oldest first, at most `limit`. @throws StoreUnavailable */
  readonly due: (queue: WaitingQueue, now: number, limit: number) => Promise<readonly DueItem[]>
  /** When the next item of a queue is due (ms since the epoch); null when none waits. @throws StoreUnavailable */
  readonly nextDue: (queue: WaitingQueue) => Promise<number | null>
  /** The receiver of a queue; null while nothing may be sent to it. @throws LogUnavailable */
  readonly open: (queue: WaitingQueue) => Promise<Receiver | null>
}

/** Limits of a dispatcher. */
export interface DispatchLimits {
  /** Items of one queue in a pass. */
  readonly pass: number
  /** Items of one queue that are sent at the same time. */
  readonly inFlight: number
  /** A receiver that does not answer is set aside until the next multiple of this (ms). A waiting queue is looked at as often. */
  readonly tickMs: number
}

/** A dispatcher at work. */
export interface QueueDispatcher {
  /** Resolves when the signal has aborted and what was under way has ended. */
  readonly done: Promise<void>
}

/** How often the queues are looked at (ms). */
const LOOK_EVERY_MS = 150
/** The listing of queues may take this share of the time. */
const LOOK_SHARE = 10
/** Requests at the same time: to receivers that have answered, and to those that have yet to. */
const SLOTS = 1_024
/** Queues whose last state is remembered. */
const REMEMBERED = 10_000
/** Items that were sent and whose rows do not say so yet; more make a queue wait for its rows. */
const MAX_STALE = 400
/** Items of a queue that are read at once, for several passes. */
const READ_AHEAD = 200
/** Pause before a queue that may not be sent to, or that another process sends, is looked at again (ms). */
const RETRY_MS = 1_000
const FAILURE: BackOff = { firstMs: 250, maxMs: 15_000 }
const ITEM_FAILURE: BackOff = { firstMs: 1_000, maxMs: 300_000 }

/** Group of the lanes of a dispatcher. */
export const DISPATCH = 'dispatch'

/**
 * Sends what is due in many queues until the signal: each queue by one process at a time, under a claim, in passes; the queues
 * side by side, so that a dead receiver delays no other. Processes share the queues by partition.
 */
export function runDispatcher(options: {
  readonly ports: DispatchPorts
  readonly limits: DispatchLimits
  readonly claimant: Claimant
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly lanes: { readonly ownership: Ownership; readonly shards: number }
  readonly onFailure: (queue: WaitingQueue, problem: string) => void
}): QueueDispatcher {
  const { ports, limits, claimant, clock, signal, lanes, onFailure } = options
  const wake = createWakeSignal(clock, signal)
  const slots = { proven: createSlots(SLOTS), unproven: createSlots(SLOTS) }
  const states = new LRUCache<string, QueueState>({ max: REMEMBERED })
  const running = new Map<string, Promise<void>>()

  /**
   * When a queue in which nothing is due is looked at again (ms since the epoch): when its next item is due, and in between less
   * and less often, as rows may follow the version later.
   */
  async function nextLook(queue: WaitingQueue, state: QueueState): Promise<number> {
    if (state.sent.size + state.held.size > 0) return clock.now() + LOOK_EVERY_MS
    const next = (await ports.nextDue(queue)) ?? Number.POSITIVE_INFINITY
    state.idleLooks += 1
    return Math.min(next, clock.now() + backOffMs(state.idleLooks, { firstMs: LOOK_EVERY_MS, maxMs: limits.tickMs }))
  }

  async function readAhead(queue: WaitingQueue, state: QueueState): Promise<readonly DueItem[]> {
    const now = clock.now()
    return unsentItems(state, await ports.due(queue, now, rowsToRead(state, READ_AHEAD)), now).slice(0, READ_AHEAD)
  }

  /** One pass. Resolves to whether another may follow at once. */
  async function pass(queue: WaitingQueue, state: QueueState): Promise<boolean> {
    if (state.ready.length === 0) state.ready = await readAhead(queue, state)
    const items = state.ready.slice(0, limits.pass)
    state.ready = state.ready.slice(limits.pass)
    if (items.length === 0) {
      state.nextAt = await nextLook(queue, state)
      return false
    }
    state.idleLooks = 0
    const receiver = await ports.open(queue)
    if (receiver === null) {
      state.nextAt = clock.now() + RETRY_MS
      return false
    }
    const { trust } = state
    const onSent = ({ id, n }: DueItem) => void state.sent.set(id, n)
    const onItemFailure = ({ id }: DueItem, error: unknown) => {
      const times = (state.held.get(id)?.times ?? 0) + 1
      state.held.set(id, { times, until: clock.now() + backOffMs(times, ITEM_FAILURE) })
      onFailure(queue, errorMessage(error))
    }
    const { inFlight } = limits
    const end = await runPass(items, receiver, { inFlight, trust, slots, signal, onSent, onItemFailure })
    if (end === 'silent') state.asideUntil = (Math.floor(clock.now() / limits.tickMs) + 1) * limits.tickMs
    if (end === 'waits') state.asideUntil = clock.now() + RETRY_MS
    state.nextAt = state.sent.size > MAX_STALE ? clock.now() + LOOK_EVERY_MS : 0
    return end === 'all' && state.nextAt === 0
  }

  async function run(queue: WaitingQueue, state: QueueState): Promise<void> {
    try {
      const claim = await claimWork(claimant, clock, `claim:dispatch:${queue.id}`)
      if (claim === null) {
        state.nextAt = clock.now() + RETRY_MS
        return
      }
      // What was read under an earlier claim may have been sent by another process.
      state.ready = []
      try {
        while (!signal.aborted && (await pass(queue, state)));
      } finally {
        await claim.release()
      }
      state.failures = 0
    } catch (error) {
      state.failures += 1
      state.nextAt = clock.now() + backOffMs(state.failures, FAILURE)
      state.asideUntil = state.nextAt
      onFailure(queue, errorMessage(error))
    }
  }

  function start(queue: WaitingQueue): void {
    if (running.has(queue.id)) return
    const state = states.get(queue.id) ?? newQueueState()
    states.set(queue.id, state)
    const now = clock.now()
    if (state.asideUntil > now || (state.nextAt > now && state.version === queue.version)) return
    if (state.version !== queue.version) state.idleLooks = 0
    state.version = queue.version
    const work = run(queue, state).finally(() => running.delete(queue.id))
    running.set(queue.id, work)
  }

  const { ownership, shards } = lanes
  ownership.onChange(wake.notify)
  ownership.contendFor([{ name: DISPATCH, shards }])
  const rangesNow = () => {
    const owned = [...ownership.owned().values()].filter(({ group }) => group === DISPATCH)
    // What runs of a lane that is given back is claimed: the next owner leaves it to this process, while it lives.
    for (const { key, leaving } of owned) if (leaving) ownership.release(key)
    return owned.flatMap(({ range, leaving }) => (leaving ? [] : [range]))
  }

  const loop = startRunLoop({
    async turn() {
      const since = clock.now()
      const ranges = rangesNow()
      for (const queue of ranges.length === 0 ? [] : await ports.queues(ranges)) start(queue)
      return clock.now() + Math.max(LOOK_EVERY_MS, (clock.now() - since) * LOOK_SHARE)
    },
    wake,
    clock,
    signal,
    async onStop() {
      await Promise.all(running.values())
    },
  })
  return { done: loop.done }
}
