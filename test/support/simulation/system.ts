import { createHash } from 'node:crypto'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { reactions } from '../../../src/main/platform-effects.ts'
import { createStoreIdentity } from '../../../src/runtime/columns/store-identity.ts'
import { listParked, requestAction } from '../../../src/runtime/reactions/parked-streams.ts'
import { beginReaction } from '../../../src/runtime/reactions/reaction-checkpoint.ts'
import { reactionLanes } from '../../../src/runtime/reactions/reaction-lane.ts'

import { flushEventLoop } from '../memory/clock.ts'
import { createMemoryLog } from '../memory/event-log.ts'
import { createMemoryFiles } from '../memory/files.ts'
import { createMemoryOperationalStore } from '../memory/operational-store.ts'
import { createMemoryReadStore } from '../memory/read-store.ts'
import { createOracle, type Oracle } from '../oracle/oracle.ts'
import { auditRun } from './audit.ts'
import { backlogOf } from './backlog.ts'
import { createSimulatedCarrier } from './carrier.ts'
import { chanceFrom, simulatedRandom } from './chance.ts'
import { createCluster, type Retry } from './cluster.ts'
import { asCurrent, type CodeVersion, currentCode, nextCode, simulatedOf } from './code-version.ts'
import { createNoticeDelivery } from './notices.ts'
import { type CrashAt, createFates } from './pending-call-fates.ts'
import type { Bug } from './process.ts'
import type { SharedPorts } from './process-ports.ts'
import { isFaultless, isTimely, type Profile, profileFrom } from './profile.ts'
import { createReceivers } from './receivers.ts'
import { isUnavailable, type RunContext, runAfter } from './run-context.ts'
import { scheduleRun } from './schedule.ts'
import { createPendingCalls } from './steps.ts'
import { createAgenda } from './time.ts'
import { scheduleUpgrade, type UpgradeAnswers } from './upgrade.ts'
import { SIMULATED_START, type SimulatedWorld } from './world.ts'

/** A run that takes more port calls than this does not come to an end. */
const MOST_STEPS = 40_000
/** Idle checks in a row that end a run. An open call needs more of them, until the leases of dead processes expire. */
const IDLE_CHECKS = 12
const IDLE_CHECKS_WITHOUT_OPEN_CALL = 3
/** Work that is overdue for so long (ms) is not done any more: far longer than clocks differ. */
const OVERDUE_MS = 900_000
/** How far (ms) time moves while only late events are left. */
const WAIT_MS = 2_500
/** How often (ms), and how many times, an operator looks at parked streams after the faults. */
const OPERATOR_EVERY_MS = 5_000
const OPERATOR_ROUNDS = 4

export interface RunOptions {
  readonly seed: number
  readonly bug?: Bug | null
  /** Whether the next version of the code is started beside the current one, which leaves later. */
  readonly upgrade?: boolean
  /** Crashes at the n-th append (from 1), before or after it is written. */
  readonly dyingAt?: CrashAt | null
  readonly profile?: Partial<Profile>
  /** Receives a line for everything that happens. */
  readonly trace?: (line: string) => void
}

/** The result of a run. */
export interface SimulationRun {
  readonly seed: number
  /** A sentence for each rule that was broken. */
  readonly violations: readonly string[]
  readonly steps: number
  readonly appends: number
  readonly crashes: number
  /** How often an operator found a parked stream. */
  readonly parked: number
  /** The events after those of the configuration. */
  readonly events: readonly RecordedEvent[]
  /** Hash of all events in order: the same for the same seed. */
  readonly digest: string
  /** Null where there was no upgrade. */
  readonly answered: UpgradeAnswers | null
}

/** Hash of all events without the ids of commands, which differ between runs. */
function digestOf(events: readonly RecordedEvent[]): string {
  const hash = createHash('sha256')
  for (const { meta, ...event } of events) hash.update(JSON.stringify([event, meta.at, meta.eventId, meta.reads]))
  return hash.digest('hex')
}

/** The stores, processes and carrier of a run. */
function openRun(context: RunContext, { seed, bug = null, dyingAt = null, upgrade = false }: RunOptions) {
  const { profile, chance, agenda, world, configured, endpoints } = context
  const steps = createPendingCalls()
  const [log, ops] = [createMemoryLog(configured), createMemoryOperationalStore()]
  const views = createMemoryReadStore({ atomic: profile.atomic })
  // A query may be the first to need it, at the end of the run, when no write gets its turn any more.
  void createStoreIdentity(views, { seed: () => seed })()
  const retryUntilDone: Retry = (what, work) => cluster.retryUntilDone(what, work)
  const notices = createNoticeDelivery(context, retryUntilDone)
  const carrier = createSimulatedCarrier({
    agenda,
    chance,
    behaviour: profile.callers,
    lineCaps: world.concurrency,
    notify: notices.deliver,
  })
  /** Confirms every command, and sometimes does not execute it. */
  const withIgnored =
    <Command>(method: (command: Command) => Promise<void>) =>
    async (command: Command) => {
      if (!(context.faulty && chance.odds(profile.ignoredCommands))) await method(command)
    }
  const commands = { dial: withIgnored(carrier.commands.dial), release: withIgnored(carrier.commands.release) }
  const dead = new Set(endpoints.flatMap(({ isDead, url }) => (isDead ? [url] : [])))
  const receivers = createReceivers({
    agenda,
    chance,
    behaviour: profile.receivers,
    isDead: (url) => dead.has(url),
    isTimely: isTimely(profile),
    trace: context.trace,
  })
  // The platform has run before: what begins at the end of the log begins behind the configuration.
  for (const lane of reactions.filter(({ from }) => from === 'now').flatMap((one) => reactionLanes(one, 1)))
    void beginReaction({ log, ops, now: agenda.now() }, lane)
  const simulated = (code: CodeVersion) => simulatedOf(code, profile)
  const ports: SharedPorts = {
    simulated,
    receivers,
    files: createMemoryFiles(),
    log,
    ops,
    views,
    commands,
    agenda,
    steps,
    isPoisoned: (callId) => context.faulty && typeof callId === 'string' && context.poisoned.has(callId),
    isUnavailable: (port) => isUnavailable(context, port),
  }
  const cluster = createCluster(context, { ports, seed, bug, code: currentCode })
  const fates = createFates(context, cluster, dyingAt)
  const ids = simulatedRandom(seed, agenda)
  for (let n = 0; n < profile.processes; n += 1) cluster.start()
  scheduleRun(context, { carrier, ids, cluster })
  const code = upgrade ? nextCode : currentCode
  const reads = upgrade ? scheduleUpgrade(context, { cluster, log, from: currentCode, to: code }) : null
  return { code, simulated, reads, steps, log, ops, views, carrier, receivers, notices, cluster, fates }
}
type OpenRun = ReturnType<typeof openRun>

/** Shows the oracle every new event; the rules that are broken so far. */
function createObserver(
  { configured, trace }: RunContext,
  { log, carrier, receivers }: Pick<OpenRun, 'log' | 'carrier' | 'receivers'>,
) {
  const oracle = createOracle()
  let seen = 0
  return {
    oracle,
    violations(): readonly string[] {
      const fresh = log.events.slice(seen)
      const broken = fresh.flatMap((event) => {
        if (seen >= configured.length) trace(`  ${event.type} in ${event.stream}`)
        seen += 1
        return oracle.see(asCurrent(event))
      })
      return [...broken, ...carrier.violations, ...receivers.violations]
    },
  }
}

/** Moves time on to the next event, skipping timers that fall due in between. */
function moveOn({ agenda }: RunContext, stepMs: number): void {
  const event = agenda.next(true) ?? Number.POSITIVE_INFINITY
  agenda.moveTo(Math.min(event, Math.max(agenda.next() ?? 0, agenda.now() + stepMs)))
}

/** An operator, who has every parked stream tried again a few times. */
function retryParked(context: RunContext, ops: OpenRun['ops'], times = OPERATOR_ROUNDS): void {
  const { agenda, trace } = context
  runAfter(context, OPERATOR_EVERY_MS, async () => {
    for (const parked of await listParked(ops, agenda.now())) {
      trace(`${parked.reaction} has parked ${parked.stream}`)
      context.parked += 1
      await requestAction(ops, parked, 'retry', agenda.now())
    }
    if (times > 1) retryParked(context, ops, times - 1)
  })
}

/** Counts idle checks in a row; each moves time on to the next scheduled job, or a little further. */
function createIdleCheck(context: RunContext, run: OpenRun, oracle: Oracle) {
  let idleChecks = 0
  let waitsFor = ''
  return {
    isOver: () => idleChecks >= IDLE_CHECKS,
    waitsFor: () => waitsFor,
    async check(): Promise<void> {
      const { agenda } = context
      if (run.cluster.processes().length === 0) run.cluster.start()
      const { behind, open, nextDue, cleansAt } = await backlogOf(run, run.code, oracle, agenda.now())
      waitsFor = behind.join() || (nextDue === null ? '' : 'due work')
      idleChecks = waitsFor === '' ? idleChecks + (open ? 1 : IDLE_CHECKS_WITHOUT_OPEN_CALL) : 0
      if (nextDue !== null && nextDue < agenda.now() - OVERDUE_MS) idleChecks = IDLE_CHECKS
      const nextAt = cleansAt ?? (behind.length === 0 ? nextDue : null)
      const ahead = nextAt === null ? 0 : nextAt - agenda.now()
      moveOn(context, Math.max(WAIT_MS, ahead))
    },
  }
}

/** Runs the whole system once: with faults as the seed draws them, then without until no work is left. */
export async function runSystem(world: SimulatedWorld, options: RunOptions): Promise<SimulationRun> {
  const { seed } = options
  const chance = chanceFrom(seed)
  const profile: Profile = { ...profileFrom(chance), ...options.profile }
  const agenda = createAgenda(SIMULATED_START)
  let taken = 0
  const trace = (line: string) =>
    options.trace?.(`${String(taken).padStart(6)} ${new Date(agenda.now()).toISOString()} ${line}`)
  const endpoints = profile.endpoints ? world.endpoints : []
  const context: RunContext = {
    world,
    configured: profile.endpoints ? [...world.events, ...world.endpointEvents] : world.events,
    endpoints,
    chance,
    profile,
    agenda,
    faulty: true,
    unavailableUntil: new Map(),
    poisoned: new Set(),
    answers: [],
    parked: 0,
    trace,
  }
  const run = openRun(context, options)
  const { steps, log, cluster, fates } = run
  const observer = createObserver(context, run)
  const idle = createIdleCheck(context, run, observer.oracle)
  const faultlessAt = SIMULATED_START + (profile.span + profile.aftermath) * 1_000
  const violations: string[] = []
  while (violations.length === 0 && !idle.isOver()) {
    await flushEventLoop(steps.count() > 1 ? 1 : 4)
    violations.push(...observer.violations())
    if (context.faulty && agenda.now() >= faultlessAt) {
      context.faulty = false
      trace('no more faults')
      retryParked(context, run.ops)
    }
    const timeMoves = context.faulty && steps.count() > 0 && chance.odds(profile.timeMoves)
    const isStill = (owner: object) => cluster.processes().some((one) => one.owner === owner && one.isStill())
    const call = timeMoves ? null : steps.draw(chance, isStill)
    if (call) {
      taken += 1
      fates.decide(call)
    } else if (context.faulty) moveOn(context, chance.among(profile.timeStepsMs))
    else if (agenda.next(true) !== null) moveOn(context, WAIT_MS)
    else await idle.check()
    if (!call) violations.push(...cluster.processes().flatMap((process) => process.halted(process.code !== run.code)))
    if (run.reads) violations.push(...run.reads.violations())
    if (taken > MOST_STEPS) violations.push(`The system does not become idle: ${idle.waitsFor()}`)
  }
  const [survivor] = cluster.processes()
  if (violations.length === 0 && survivor) {
    const { acknowledged, recorded } = run.notices
    const [liveCalls, now] = [run.carrier.liveCalls(), agenda.now()]
    const { oracle } = observer
    const finished = {
      log,
      code: run.code,
      simulated: run.simulated(run.code),
      views: run.views,
      oracle,
      acknowledged,
      recorded,
      liveCalls,
      now,
      endpoints,
      received: run.receivers.received,
      inOrder: profile.processes === 1 && isFaultless(profile) && !options.upgrade && !options.dyingAt,
      ask: survivor.ask,
      answers: profile.skewMs === 0 ? context.answers : null,
    }
    violations.push(...(await auditRun(finished)))
  }
  for (const process of cluster.processes()) process.kill()
  const events = log.events.slice(world.events.length)
  const crashes = cluster.crashes()
  return {
    seed,
    violations,
    steps: taken,
    appends: fates.appends(),
    crashes,
    parked: context.parked,
    events,
    digest: digestOf(events),
    answered: run.reads?.answered() ?? null,
  }
}
