import { upcast } from '../../kernel/entity.ts'
import type { AnyReaction } from '../../kernel/reaction.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventLog, START } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { backOff, breathe, createBell, isAway, pause, sentenceOf } from '../pause.ts'
import { createFeed } from '../projections/log-reader.ts'
import type { Upcasts } from '../upcasts.ts'
import {
  beginTerm,
  createReactionLane,
  endTerm,
  type Job,
  type ReactionLane,
  settleDone,
  takePage,
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
  readonly handled?: (reaction: string, eventId: string) => boolean
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
  const bell = createBell(clock, signal)
  const types = new Set(options.reactions.flatMap(({ on }) => Object.keys(on)))
  const feed = createFeed(log, types, bell, signal)
  const lanes = options.reactions.map((reaction) => createReactionLane(reaction))
  const underWay = new Set<Promise<void>>()
  let failures = 0
  let away: string | null = null

  /** Takes, prolongs or loses the claim on a reaction. */
  async function contend(lane: ReactionLane<Tools>, now: number): Promise<void> {
    const { name } = lane.reaction
    if (lane.state === 'owner' && now >= lane.until) endTerm(lane, 'contending')
    const mine = await ops.claim(claimOf(name), owner, now + LEASE_MS, now)
    if (mine) lane.until = now + LEASE_MS
    lane.claimDue = now + (mine ? LEASE_MS / 3 : CONTEND_EVERY_MS)
    if (mine && lane.state === 'contending') {
      const entry = await ops.get(checkpointOf(name), now)
      beginTerm(lane, { position: positionOf(entry?.value), version: entry?.version ?? 0 })
    } else if (!mine && lane.state === 'owner') endTerm(lane, 'contending')
  }

  /** Runs one event through its reaction; retries until it is done, the reaction halts or the term is over. */
  async function attend(lane: ReactionLane<Tools>, job: Job, term: number): Promise<void> {
    const { reaction } = lane
    for (let attempt = 1; lane.term === term && !signal.aborted; ) {
      try {
        if (!options.handled?.(reaction.name, job.event.meta.eventId)) {
          await reaction.on[job.event.type]?.(tools, upcast({ upcasts }, job.event))
        }
        if (lane.term !== term) return
        job.done = true
        lane.problem = null
        return
      } catch (error) {
        if (lane.term !== term) return
        lane.problem = `${job.event.type} at ${job.event.position}: ${sentenceOf(error)}`
        if (!isAway(error)) {
          if (attempt > RETRIES) return halt(lane)
          attempt += 1
        }
        await pause(clock, backOff(attempt, 100), signal)
      }
    }
  }

  function halt(lane: ReactionLane<Tools>): void {
    const waiting = lane.jobs.length
    endTerm(lane, 'halted')
    options.onHalt?.({ ...statusOf(lane), waiting })
  }

  function begin(lane: ReactionLane<Tools>, job: Job): void {
    const { term } = lane
    lane.running += 1
    const work = attend(lane, job, term).then(() => {
      underWay.delete(work)
      if (lane.term !== term) return
      lane.running -= 1
      const turns = lane.streams.get(job.event.stream)
      const next = job.done ? turns?.shift() : undefined
      if (next) begin(lane, next)
      else lane.streams.delete(job.event.stream)
      bell.ring()
    })
    underWay.add(work)
  }

  /** Starts what is old enough, as many at once as may be; answers when the next one will be (ms), null for none. */
  function pump(lane: ReactionLane<Tools>, now: number): number | null {
    let taken = 0
    let due: number | null = null
    for (const job of lane.queue) {
      if (lane.running >= AT_ONCE) break
      const turns = lane.streams.get(job.event.stream)
      const ready = options.handled?.(lane.reaction.name, job.event.meta.eventId) ?? false
      if (!ready && job.at + graceMs > now) {
        due = job.at + graceMs
        break
      }
      taken += 1
      if (turns) turns.push(job)
      else {
        lane.streams.set(job.event.stream, [])
        begin(lane, job)
      }
    }
    if (taken > 0) lane.queue = lane.queue.slice(taken)
    return due
  }

  /** Moves the checkpoint over what is done; another's checkpoint ends the term. */
  async function commit(lane: ReactionLane<Tools>, now: number, force = false): Promise<void> {
    settleDone(lane)
    if (lane.position === lane.committed || (!force && now - lane.committedAt < COMMIT_EVERY_MS)) return
    const { term, position, version } = lane
    const moved = await ops.putIf(checkpointOf(lane.reaction.name), version, position, null, now)
    if (lane.term !== term) return
    if (!moved) {
      // Ours may have landed without its answer having come: the term begins again from what stands.
      endTerm(lane, 'contending')
      lane.claimDue = now
      return
    }
    lane.committed = position
    lane.version = version + 1
    lane.committedAt = now
  }

  async function turn(): Promise<number | null> {
    const now = clock.now()
    for (const lane of lanes) if (lane.state !== 'halted' && now >= lane.claimDue) await contend(lane, now)
    const owned = lanes.filter(({ state }) => state === 'owner')
    const hungry = owned.filter((lane) => lane.jobs.length < WAITING)
    const behind = hungry.filter(({ read }) => !feed.quiet(read))
    const still = hungry.filter((lane) => !behind.includes(lane))
    if (still.length > 0) feed.listen(Math.max(...still.map(({ read }) => read)))
    if (behind.length > 0) {
      const after = Math.min(...behind.map(({ read }) => read))
      const page = await feed.page(after, PAGE)
      for (const lane of behind) if (lane.read === after || lane.read < page.position) takePage(lane, page)
    }
    const dues = owned.map((lane) => pump(lane, clock.now()))
    for (const lane of owned) if (lane.state === 'owner') await commit(lane, clock.now())
    if (behind.length > 0) return null
    const commits = owned.flatMap((lane) =>
      lane.position === lane.committed ? [] : [lane.committedAt + COMMIT_EVERY_MS],
    )
    const claims = lanes.flatMap((lane) => (lane.state === 'halted' ? [] : [lane.claimDue]))
    return Math.min(clock.now() + LEASE_MS, ...claims, ...commits, ...dues.filter((due) => due !== null))
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const until = await turn()
        failures = 0
        away = null
        if (until === null) await breathe()
        else await bell.rest(until)
      } catch (error) {
        failures += 1
        away = sentenceOf(error)
        await bell.rest(clock.now() + backOff(failures))
      }
    }
    feed.close()
    while (underWay.size > 0) await Promise.all(underWay)
    const owned = lanes.filter(({ state }) => state === 'owner')
    // A store that is away now lets the claims run out by themselves.
    await Promise.allSettled(owned.map((lane) => giveBack(lane)))
  }

  async function giveBack(lane: ReactionLane<Tools>): Promise<void> {
    await commit(lane, clock.now(), true)
    await ops.release(claimOf(lane.reaction.name), owner)
  }

  function statusOf(lane: ReactionLane<Tools>): ReactionStatus {
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
