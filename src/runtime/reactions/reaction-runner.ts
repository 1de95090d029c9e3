import { backOffMs } from '../../kernel/async/backoff.ts'
import { errorMessage, isUnavailable } from '../../kernel/async/errors.ts'
import { sleep } from '../../kernel/async/sleep.ts'
import { createWakeSignal } from '../../kernel/async/wake-signal.ts'
import { yieldToEventLoop } from '../../kernel/async/yield-to-event-loop.ts'
import { upcast } from '../../kernel/entity.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventLog, START } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { createLogReader } from '../projections/log-reader.ts'
import type { Upcasts } from '../upcasts.ts'
import {
  advancePosition,
  createSubscription,
  endEpoch,
  enqueue,
  type ReactionJob,
  type Subscription,
  startEpoch,
} from './subscription.ts'

export interface ReactionStatus {
  readonly name: string
  /** Everything up to here is done. */
  readonly position: number
  readonly state: 'owner' | 'contending' | 'halted'
  /** Events read and not done. */
  readonly waiting: number
  readonly problem: string | null
}

export interface ReactionRunnerOptions<Tools> {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly reactions: readonly AnyReaction<Tools>[]
  readonly tools: Tools
  readonly upcasts?: Upcasts
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Names this process among those that share the operational store. */
  readonly owner: string
  /** How old (ms, by recorded time) an event must be: the process that made it usually goes on at once by itself. */
  readonly graceMs: number
  /** Whether this process has done what follows from an event already. */
  readonly isProcessed?: (reaction: string, eventId: string) => boolean
  readonly onHalt?: (status: ReactionStatus) => void
}

export interface ReactionRunner {
  readonly status: () => readonly ReactionStatus[]
  /** Resolves when the signal has ended the run, what was under way is finished and the claims are given back. */
  readonly done: Promise<void>
}

const LEASE_MS = 10_000
const CONTEND_EVERY_MS = 2_000
const RETRIES = 5
const AT_ONCE = 64
/** A reaction with this much waiting is read no further. */
const WAITING = 2_000
const PAGE = 1_000
const COMMIT_EVERY_MS = 200

const claimOf = (name: string) => `reaction:${name}`
const checkpointOf = (name: string) => `reaction-position:${name}`

function positionOf(value: unknown): number {
  return typeof value === 'number' ? value : START
}

/** Runs reactions over the log until the signal, each in one process at a time, at least once for each event. */
export function runReactions<Tools>(options: ReactionRunnerOptions<Tools>): ReactionRunner {
  const { log, ops, tools, clock, signal, owner, graceMs, upcasts = {} } = options
  const bell = createWakeSignal(clock, signal)
  const types = new Set(options.reactions.flatMap(({ on }) => Object.keys(on)))
  const feed = createLogReader(log, types, bell, signal)
  const lanes = options.reactions.map((reaction) => createSubscription(reaction))
  const underWay = new Set<Promise<void>>()
  let failures = 0
  let away: string | null = null

  /** Takes, prolongs or loses the claim on a reaction. */
  async function renewLease(lane: Subscription<Tools>, now: number): Promise<void> {
    const { name } = lane.reaction
    if (lane.state === 'owner' && now >= lane.leaseUntil) endEpoch(lane, 'contending')
    const mine = await ops.acquireLease(claimOf(name), owner, now + LEASE_MS, now)
    if (mine) lane.leaseUntil = now + LEASE_MS
    lane.leaseDueAt = now + (mine ? LEASE_MS / 3 : CONTEND_EVERY_MS)
    if (mine && lane.state === 'contending') {
      const entry = await ops.get(checkpointOf(name), now)
      startEpoch(lane, { position: positionOf(entry?.value), version: entry?.version ?? 0 })
    } else if (!mine && lane.state === 'owner') endEpoch(lane, 'contending')
  }

  /** Runs one event through its reaction; retries until it is done, the reaction halts or the term is over. */
  async function process(lane: Subscription<Tools>, job: ReactionJob, term: number): Promise<void> {
    const { reaction } = lane
    for (let attempt = 1; lane.epoch === term && !signal.aborted; ) {
      try {
        if (!options.isProcessed?.(reaction.name, job.event.meta.eventId)) {
          await reaction.on[job.event.type]?.(tools, upcast({ upcasts }, job.event))
        }
        if (lane.epoch !== term) return
        job.done = true
        lane.problem = null
        return
      } catch (error) {
        if (lane.epoch !== term) return
        lane.problem = `${job.event.type} at ${job.event.position}: ${errorMessage(error)}`
        if (!isUnavailable(error)) {
          if (attempt > RETRIES) return halt(lane)
          attempt += 1
        }
        await sleep(clock, backOffMs(attempt, { firstMs: 100 }), signal)
      }
    }
  }

  function halt(lane: Subscription<Tools>): void {
    const waiting = lane.jobs.length
    endEpoch(lane, 'halted')
    options.onHalt?.({ ...statusOf(lane), waiting })
  }

  function start(lane: Subscription<Tools>, job: ReactionJob): void {
    const { epoch } = lane
    lane.running += 1
    const work = process(lane, job, epoch).then(() => {
      underWay.delete(work)
      if (lane.epoch !== epoch) return
      lane.running -= 1
      const turns = lane.streams.get(job.event.stream)
      const next = job.done ? turns?.shift() : undefined
      if (next) start(lane, next)
      else lane.streams.delete(job.event.stream)
      bell.notify()
    })
    underWay.add(work)
  }

  /** Starts what is old enough, as many at once as may be; answers when the next one will be (ms), null for none. */
  function dispatch(lane: Subscription<Tools>, now: number): number | null {
    let taken = 0
    let due: number | null = null
    for (const job of lane.queue) {
      if (lane.running >= AT_ONCE) break
      const turns = lane.streams.get(job.event.stream)
      const ready = options.isProcessed?.(lane.reaction.name, job.event.meta.eventId) ?? false
      if (!ready && job.at + graceMs > now) {
        due = job.at + graceMs
        break
      }
      taken += 1
      if (turns) turns.push(job)
      else {
        lane.streams.set(job.event.stream, [])
        start(lane, job)
      }
    }
    if (taken > 0) lane.queue = lane.queue.slice(taken)
    return due
  }

  /** Moves the checkpoint over what is done; another's checkpoint ends the term. */
  async function commit(lane: Subscription<Tools>, now: number, force = false): Promise<void> {
    advancePosition(lane)
    if (lane.position === lane.committed || (!force && now - lane.committedAt < COMMIT_EVERY_MS)) return
    const { epoch, position, version } = lane
    const moved = await ops.putIf(checkpointOf(lane.reaction.name), version, position, null, now)
    if (lane.epoch !== epoch) return
    if (!moved) {
      // Ours may have landed without its answer having come: the term begins again from what stands.
      endEpoch(lane, 'contending')
      lane.leaseDueAt = now
      return
    }
    lane.committed = position
    lane.version = version + 1
    lane.committedAt = now
  }

  async function turn(): Promise<number | null> {
    const now = clock.now()
    for (const lane of lanes) if (lane.state !== 'halted' && now >= lane.leaseDueAt) await renewLease(lane, now)
    const owned = lanes.filter(({ state }) => state === 'owner')
    const hungry = owned.filter((lane) => lane.jobs.length < WAITING)
    const behind = hungry.filter(({ read }) => !feed.isCaughtUp(read))
    const still = hungry.filter((lane) => !behind.includes(lane))
    if (still.length > 0) feed.subscribe(Math.max(...still.map(({ read }) => read)))
    if (behind.length > 0) {
      const after = Math.min(...behind.map(({ read }) => read))
      const page = await feed.page(after, PAGE)
      for (const lane of behind) if (lane.read === after || lane.read < page.position) enqueue(lane, page)
    }
    const dues = owned.map((lane) => dispatch(lane, clock.now()))
    for (const lane of owned) if (lane.state === 'owner') await commit(lane, clock.now())
    if (behind.length > 0) return null
    const commits = owned.flatMap((lane) =>
      lane.position === lane.committed ? [] : [lane.committedAt + COMMIT_EVERY_MS],
    )
    const claims = lanes.flatMap((lane) => (lane.state === 'halted' ? [] : [lane.leaseDueAt]))
    return Math.min(clock.now() + LEASE_MS, ...claims, ...commits, ...dues.filter((due) => due !== null))
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const until = await turn()
        failures = 0
        away = null
        if (until === null) await yieldToEventLoop()
        else await bell.wait(until)
      } catch (error) {
        failures += 1
        away = errorMessage(error)
        await bell.wait(clock.now() + backOffMs(failures))
      }
    }
    feed.close()
    while (underWay.size > 0) await Promise.all(underWay)
    const owned = lanes.filter(({ state }) => state === 'owner')
    // A store that is away now lets the claims run out by themselves.
    await Promise.allSettled(owned.map((lane) => releaseLease(lane)))
  }

  async function releaseLease(lane: Subscription<Tools>): Promise<void> {
    await commit(lane, clock.now(), true)
    await ops.releaseLease(claimOf(lane.reaction.name), owner)
  }

  function statusOf(lane: Subscription<Tools>): ReactionStatus {
    return {
      name: lane.reaction.name,
      position: lane.position,
      state: lane.state,
      waiting: lane.jobs.length,
      problem: lane.problem ?? away,
    }
  }

  return { status: () => lanes.map(statusOf), done: run() }
}
