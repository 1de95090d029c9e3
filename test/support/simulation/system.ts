import { createHash } from 'node:crypto'
import type { RecordedEvent } from '../../../src/kernel/event.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import type { CarrierNotice } from '../../../src/ports/carrier.ts'
import { WORKSPACE } from '../fixtures/spec.ts'
import { createMemoryLog } from '../memory/event-log.ts'
import { createMemoryOperationalStore } from '../memory/operational-store.ts'
import { createMemoryReadStore } from '../memory/read-store.ts'
import { createOracle } from '../oracle/oracle.ts'
import { auditRun } from './audit.ts'
import { backlogOf } from './backlog.ts'
import { createSimulatedCarrier } from './carrier.ts'
import { chanceFrom, simulatedRandom } from './chance.ts'
import { createCluster } from './cluster.ts'
import type { Bug } from './process.ts'
import { type Profile, profileFrom } from './profile.ts'
import { createPendingCalls, flushEventLoop, type PendingCall, type PortName } from './steps.ts'
import { createAgenda } from './time.ts'
import { someAction, someCaller } from './user-actions.ts'
import { copyEvents, SIMULATED_START, type SimulatedWorld, simulatedCommandCall } from './world.ts'

/** A run that takes more port calls than this does not come to an end. */
const MOST_STEPS = 20_000
/** Idle checks in a row that end a run. An open call needs more of them, until the leases of dead processes expire. */
const IDLE_CHECKS = 12
const IDLE_CHECKS_WITHOUT_OPEN_CALL = 3
/** How far (ms) time moves while only late events are left. */
const WAIT_MS = 2_500
const PORTS: readonly PortName[] = ['log', 'ops', 'views', 'carrier']
const OUTAGES_MS = [500, 5_000, 60_000]

export interface RunOptions {
  readonly seed: number
  readonly bug?: Bug | null
  /** Crashes at the n-th append (from 1), before or after it is written. */
  readonly dyingAt?: { readonly append: number; readonly landed: boolean } | null
  readonly profile?: Partial<Profile>
  /** Receives a line for everything that happens. */
  readonly trace?: (line: string) => void
}

/** The result of a run. */
export interface SimulationRun {
  readonly seed: number
  /** A sentence for each rule that was broken. */
  readonly broken: readonly string[]
  readonly steps: number
  readonly appends: number
  readonly crashes: number
  /** The events after those of the configuration. */
  readonly events: readonly RecordedEvent[]
  /** Hash of all events in order: the same for the same seed. */
  readonly digest: string
}

/** Hash of all events without the ids of commands, which differ between runs. */
function digestOf(events: readonly RecordedEvent[]): string {
  const hash = createHash('sha256')
  for (const { meta, ...event } of events) hash.update(JSON.stringify([event, meta.at, meta.eventId, meta.reads]))
  return hash.digest('hex')
}

/** Runs the whole system once: with faults as the seed draws them, then without until no work is left. */
export async function runSystem(world: SimulatedWorld, options: RunOptions): Promise<SimulationRun> {
  const { seed, bug = null, dyingAt = null } = options
  const chance = chanceFrom(seed)
  const profile: Profile = { ...profileFrom(chance), ...options.profile }
  const agenda = createAgenda(SIMULATED_START)
  const steps = createPendingCalls()
  const [log, ops] = [createMemoryLog(), createMemoryOperationalStore()]
  const views = createMemoryReadStore({ atomic: profile.atomic })
  await copyEvents(log, world.events)
  const broken: string[] = []
  const acknowledged = new Set<string>()
  /** Calls whose arrival was never delivered: the carrier sends nothing more about them. */
  const unknown = new Set<string>()
  /** Calls whose answer was never delivered: their recording cannot be accepted. */
  const unanswered = new Set<string>()
  /** Calls whose recording was acknowledged. */
  const recorded = new Set<string>()
  const placed: string[] = []
  const awayUntil = new Map<PortName, number>()
  const ids = simulatedRandom(seed, agenda)
  let rough = true
  let taken = 0
  let appends = 0
  let waitsFor = ''

  const trace = (line: string) =>
    options.trace?.(`${String(taken).padStart(6)} ${new Date(agenda.now()).toISOString()} ${line}`)
  const soon = (ms: number, run: () => void) => agenda.at(agenda.now() + ms, run)
  const isAway = (port: PortName) => rough && (awayUntil.get(port) ?? 0) > agenda.now()

  const carrier = createSimulatedCarrier({
    agenda,
    chance,
    manners: profile.callers,
    lineCaps: world.concurrency,
    tell,
  })
  /** Confirms every command, and sometimes does not execute it. */
  const heeding =
    <Command>(method: (command: Command) => Promise<void>) =>
    async (command: Command) => {
      if (!(rough && chance.odds(profile.ignoredCommands))) await method(command)
    }
  const commands = { dial: heeding(carrier.commands.dial), release: heeding(carrier.commands.release) }
  const machine = { log, ops, views, commands, agenda, steps, isAway }
  const room = createCluster({ machine, chance, profile, seed, bug, trace })

  function tell(notice: CarrierNotice): void {
    if (rough && chance.odds(profile.lostNotices)) {
      if (notice.type === 'call-arrived') unknown.add(notice.callId)
      if (notice.type === 'dial-answered') unanswered.add(notice.callId)
      return
    }
    if (unknown.has(notice.callId)) return
    if (notice.type === 'recording-saved' && unanswered.has(notice.callId)) return
    const copies = rough && chance.odds(profile.duplicateNotices) ? 2 : 1
    for (let copy = 0; copy < copies; copy += 1) {
      const late = rough && chance.odds(profile.lateNotices)
      soon(late ? chance.between(100, 8_000) : chance.pick(30), () =>
        room.retryUntilDone(`${notice.type} ${notice.callId}`, async ({ listen }) => {
          await listen(notice)
          if (notice.type === 'call-arrived') acknowledged.add(notice.callId)
          if (notice.type === 'recording-saved') recorded.add(notice.callId)
        }),
      )
    }
  }

  function schedule(): void {
    const [spanMs, aftermathMs] = [profile.span * 1_000, profile.aftermath * 1_000]
    for (let n = 0; n < profile.calls; n += 1) {
      soon(chance.pick(spanMs), () => {
        const callId = ids.uuid()
        placed.push(callId)
        carrier.place({ workspaceId: WORKSPACE, callId, to: chance.among(world.lines).e164, from: someCaller(chance) })
      })
    }
    for (let n = 0; n < profile.actions; n += 1) {
      soon(chance.pick(spanMs + aftermathMs), () => {
        const { command, input } = someAction(chance, world, placed)
        const sent = command.input.parse(input)
        room.retryUntilDone(command.name, async ({ handle }) => {
          const outcome = await handle(command, sent, simulatedCommandCall(`act-${n}`))
          trace(`${command.name} ${isRefusal(outcome) ? outcome.refused : outcome.events.map(({ type }) => type)}`)
        })
      })
    }
    for (let n = 0; n < profile.outages; n += 1) {
      soon(chance.pick(spanMs + aftermathMs / 2), () => {
        const port = chance.among(PORTS)
        awayUntil.set(port, agenda.now() + chance.among(OUTAGES_MS))
        trace(`${port} is away`)
      })
    }
  }

  /** Decides what happens to a pending call. */
  function meet(step: PendingCall): void {
    const owner = room.ownerOf(step)
    const appending = step.name === 'log.append'
    if (appending) appends += 1
    const dies = appending && dyingAt?.append === appends
    if (owner && (dies || (rough && chance.odds(appending ? profile.crashesAppending : profile.crashes)))) {
      step.meet((dies ? dyingAt.landed : chance.odds(0.5)) ? 'vanish' : 'gone')
      room.kill(owner)
    } else if (isAway(step.port) || (rough && chance.odds(profile.failures))) step.meet('fail')
    else step.meet(rough && chance.odds(profile.lostAnswers) ? 'lose' : 'done')
  }

  const oracle = createOracle()
  let seen = 0
  function observe(): void {
    for (const event of log.events.slice(seen)) {
      if (seen >= world.events.length) trace(`  ${event.type} in ${event.stream}`)
      broken.push(...oracle.see(event))
      seen += 1
    }
    broken.push(...carrier.broken)
  }

  /** Moves time on to the next event, skipping timers that fall due in between. */
  function moveOn(leap: number): void {
    const event = agenda.next(true) ?? Number.POSITIVE_INFINITY
    agenda.moveTo(Math.min(event, Math.max(agenda.next() ?? 0, agenda.now() + leap)))
  }

  for (let n = 0; n < profile.processes; n += 1) room.start()
  schedule()
  const calmAt = SIMULATED_START + (profile.span + profile.aftermath) * 1_000
  for (let rests = 0; broken.length === 0 && rests < IDLE_CHECKS; ) {
    await flushEventLoop(steps.count() > 1 ? 1 : 4)
    observe()
    if (rough && agenda.now() >= calmAt) {
      rough = false
      trace('calm')
    }
    const hurry = rough && steps.count() > 0 && chance.odds(profile.timeMoves)
    const step = hurry ? null : steps.draw(chance)
    if (step) {
      taken += 1
      meet(step)
    } else if (rough) moveOn(chance.among(profile.timeStepsMs))
    else if (agenda.next(true) !== null) moveOn(WAIT_MS)
    else {
      if (room.processes().length === 0) room.start()
      const { behind, open, nextDue } = await backlogOf({ log, ops, views }, oracle, agenda.now())
      waitsFor = behind.join() || (nextDue === null ? '' : 'due work')
      rests = waitsFor === '' ? rests + (open ? 1 : IDLE_CHECKS_WITHOUT_OPEN_CALL) : 0
      const ahead = behind.length === 0 && nextDue !== null ? nextDue - agenda.now() : 0
      moveOn(Math.max(WAIT_MS, ahead))
    }
    if (!step) broken.push(...room.processes().flatMap((process) => process.halted()))
    if (taken > MOST_STEPS) broken.push(`The system does not come to rest: ${waitsFor}`)
  }
  const events = log.events.slice(world.events.length)
  const [left] = room.processes()
  if (broken.length === 0 && left) {
    const { ask } = left
    broken.push(
      ...(await auditRun({
        log,
        views,
        oracle,
        acknowledged,
        recorded,
        liveCalls: carrier.liveCalls(),
        now: agenda.now(),
        ask,
      })),
    )
  }
  for (const process of room.processes()) process.kill()
  return { seed, broken, steps: taken, appends, crashes: room.crashes(), events, digest: digestOf(events) }
}
