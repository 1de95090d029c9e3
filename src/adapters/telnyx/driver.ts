import type { OperationalStore } from '../../ports/operational-store.ts'
import { createPerformer, type PerformerPorts } from './performer.ts'
import type { CompletedStep, Session } from './session.ts'
import type { Step } from './step.ts'
import { nextPollAt, nextStep } from './steps.ts'
import type { StepOutcome } from './voice.ts'

export interface DriverPorts extends PerformerPorts {
  readonly ops: OperationalStore
  /** Whether this process takes up what others have left behind. */
  readonly recovers: boolean
}

const SWEEP_EVERY_MS = 1_000
/** How long a session is one process's: by then it is done, or that process is gone. */
const LEASE_MS = 10_000
const RETRY_MS = { first: 250, most: 5_000 } as const
/** How long a notice that overtook the beginning of its call is told again: by then there is no such call. */
const OVERTAKEN_MS = 15 * 60_000
/** Refusals of a command that may be its having come too soon: it is sent once more. */
const RETRIED_ONCE: ReadonlySet<string> = new Set(['bridge'])
/** What a call goes on without. */
const OPTIONAL: ReadonlySet<string> = new Set(['ringback', 'quiet', 'record'])

const KEY = 'telnyx-session:'

const dueOf = (value: unknown) =>
  typeof value === 'object' && value !== null && 'due' in value && typeof value.due === 'number' ? value.due : 0

/** A session under way in this process. */
interface Run {
  /** Whether it is to be looked at once more. */
  again: boolean
  /** Ends its rest. */
  wake: () => void
  readonly over: Promise<void>
  /** How often steps have failed, and been refused, by name. */
  readonly failures: Map<string, number>
  readonly refusals: Map<string, number>
}

/**
 * Does what is to be done with each session, one step after another, until nothing is left: as its state says, which every
 * step that is done becomes part of. A session with something left to do has an entry in the operational store, by which
 * it is taken up after a crash; one that was cut short does its last step once more, under the same id.
 */
export function createDriver(ports: DriverPorts) {
  const { ops, clock, sessions, recovers } = ports
  const perform = createPerformer(ports)
  const running = new Map<string, Run>()
  let cancelSweep = () => {}
  let closed = false

  const now = () => clock.now()

  /** How a step that failed may count as done; null when it is to be done again. */
  function givenUp({ act }: Step, error: unknown, failures: number): StepOutcome | null {
    const refused = { outcome: 'refused', leg: null, sentence: errorMessage(error) } as const
    if (OPTIONAL.has(act.do) && failures > 1) return refused
    const overtaken = act.do === 'tell' && error instanceof Error && error.name === 'CallNotBegun'
    return overtaken && now() - Date.parse(act.notice.at) > OVERTAKEN_MS ? refused : null
  }

  async function taken(id: string, { name, act }: Step, { outcome, leg, sentence }: StepOutcome): Promise<void> {
    if (act.do === 'recognize') return
    const data: CompletedStep = { step: name, outcome, leg, sentence, at: new Date(now()).toISOString() }
    await sessions.add(id, (session) => (session.completed[name] ? null : { type: 'TelnyxStepTaken', data }))
  }

  /** Does a step and keeps how it went; false when it is to be done again. */
  async function take(id: string, session: Session, step: Step, { failures, refusals }: Run): Promise<boolean> {
    const failed = failures.get(step.name) ?? 0
    const refused = refusals.get(step.name) ?? 0
    try {
      const done = await perform(id, session, step, refused)
      if (done.outcome === 'refused' && RETRIED_ONCE.has(step.act.do) && refused === 0) {
        refusals.set(step.name, 1)
        failures.set(step.name, failed + 1)
        return false
      }
      await taken(id, step, done)
      failures.delete(step.name)
      return true
    } catch (error) {
      failures.set(step.name, failed + 1)
      const done = givenUp(step, error, failed + 1)
      if (done === null) return false
      await taken(id, step, done)
      return true
    }
  }

  /**
   * Does all that can be done now, and leaves the session so that it is gone on with in time. Resolves to when this very
   * process goes on (ms); null when it does not.
   */
  async function goOn(id: string, run: Run): Promise<number | null> {
    const key = `${KEY}${id}`
    const failing = new Set<string>()
    let seen: number | null = null
    while (!closed) {
      const session = await sessions.at(id)
      const step = nextStep(session, now(), failing)
      if (step) {
        if (!(await take(id, session, step, run))) failing.add(step.name)
        continue
      }
      const entry = await ops.get(key, now())
      // What came since this entry is seen by looking once more.
      if (entry && entry.version !== seen) {
        seen = entry.version
        continue
      }
      const retry = failing.size === 0 ? null : now() + backOff(Math.max(1, ...run.failures.values()))
      const due = retry === null ? nextPollAt(session, now()) : retry + LEASE_MS
      if (entry) await ops.putIf(key, entry.version, { due: due ?? now() }, due === null ? now() : null, now())
      return retry
    }
    return null
  }

  async function drive(id: string): Promise<void> {
    const going = running.get(id)
    if (going) {
      going.again = true
      going.wake()
      return
    }
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const run: Run = { again: true, wake: () => {}, failures: new Map(), refusals: new Map(), over }
    running.set(id, run)
    try {
      while (run.again && !closed) {
        run.again = false
        const retry = await goOn(id, run)
        if (retry !== null && !run.again) await rest(run, retry)
      }
    } catch {
      // A store that is away: the session's entry stands, and it is taken up again.
    } finally {
      running.delete(id)
      sessions.forget(id)
      resolve()
    }
  }

  /** Waits until an instant, or until something comes; then the run goes on. */
  function rest(run: Run, until: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.schedule(until, () => run.wake())
      run.wake = () => {
        cancel()
        run.again = true
        run.wake = () => {}
        resolve()
      }
    })
  }

  /** Takes up what nobody is at. */
  async function sweep(): Promise<void> {
    const entries = await ops.list(KEY, now(), { limit: 10_000 }).catch(() => [])
    for (const { key, value, version } of entries) {
      const id = key.slice(KEY.length)
      if (closed || running.has(id) || dueOf(value) > now()) continue
      const mine = await ops.putIf(key, version, { due: now() + LEASE_MS }, null, now()).catch(() => false)
      if (mine) void drive(id)
    }
    if (!closed) cancelSweep = clock.schedule(now() + SWEEP_EVERY_MS, () => void sweep())
  }

  if (recovers) void sweep()

  return {
    /** Goes on with a session that something was added to. Resolves when that can no longer be forgotten. */
    async moved(id: string): Promise<void> {
      await ops.put(`${KEY}${id}`, { due: now() + LEASE_MS }, null)
      void drive(id)
    },
    /** Resolves when the steps under way are done. */
    async close(): Promise<void> {
      closed = true
      cancelSweep()
      const runs = [...running.values()]
      for (const run of runs) run.wake()
      await Promise.all(runs.map(({ over }) => over))
    },
  }
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function backOff(failures: number): number {
  return Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(failures - 1, 30))
}
