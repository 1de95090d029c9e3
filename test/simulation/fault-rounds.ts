import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../../src/domain/routing/random.ts'
import { roles } from '../../src/main/config.ts'
import { waitUntil } from '../support/e2e/server.ts'
import { createWorldIn } from '../support/e2e/world.ts'
import { createFaultEnvironment } from '../support/faults/environment.ts'
import { faultTable } from '../support/faults/fault-table.ts'
import { createFleet, type Fleet } from '../support/faults/fleet.ts'
import { faultsOf, judge, type Verdict } from '../support/faults/judge.ts'
import { type Load, startLoad } from '../support/faults/load.ts'
import { buildFaultWorld } from '../support/faults/world.ts'
import { databaseOf, type FaultServers, faultServers } from '../support/servers.ts'

const CLIENTS = 8
const ANSWER_MS = 60_000
/** Longest time (ms) until calls and actions on them are acknowledged again after a fault. */
const RECOVERY_MS = 120_000
const PROCESSES_PER_ROLE = 2
/** How long (ms) a fault lasts, and how long nothing happens after it. */
const FAULT_MS = [300, 6_000] as const
const REST_MS = [300, 3_000] as const

export interface RoundsReport extends Verdict {
  /** Names of the faults in their order. */
  readonly rounds: readonly string[]
  /** Processes that ended by themselves, or not with 0 when they were asked to, a sentence each. */
  readonly ended: readonly string[]
}

interface RoundsOptions {
  readonly servers: FaultServers
  readonly rounds: number
  /** Time (ms) to recover after the last fault. */
  readonly settleMs: number
  /** Whether to wait for usage that falls due later. */
  readonly untilCharged: boolean
  readonly seed: number
  readonly tell?: (sentence: string) => void
}

/**
 * Restarts processes that have ended by themselves, as their supervisor would; says which. A process may refuse to start
 * while a server does not answer.
 */
function revive({ members }: Fleet): readonly string[] {
  return members.flatMap(({ name, process }) => {
    const code = process.endedWith()
    if (code === null) return []
    const output = process.lastOutput()
    process.start()
    return output.includes('cannot start: ') ? [] : [`${name} ended with ${code}: ${output}`]
  })
}

/** Waits until every process answers, restarting those that refused to start. */
async function untilAllAnswer(fleet: Fleet): Promise<readonly string[]> {
  const ended: string[] = []
  for (const { name, process } of fleet.members) {
    const isAnswering = () => {
      ended.push(...revive(fleet))
      return process.answers('/healthz')
    }
    await waitUntil(`${name} answers`, isAnswering, ANSWER_MS)
  }
  return ended
}

async function startAll({ members }: Fleet): Promise<void> {
  for (const { process } of members) process.start()
  for (const { name, process } of members) {
    await process.waitUntilAnswering()
    await waitUntil(`${name} is ready`, () => process.answers('/readyz'), ANSWER_MS)
  }
}

/** Waits until another call and another action on one are acknowledged, however busy the machine is. */
async function untilServed({ acknowledged, written }: Load, after: string, look: () => void): Promise<void> {
  const calls = acknowledged.size
  const actions = written.size
  const isServed = async () => {
    look()
    return acknowledged.size > calls && written.size > actions
  }
  await waitUntil(`Calls and actions are acknowledged after ${after}`, isServed, RECOVERY_MS)
}

/** Every kind of fault once in a random order, then again. */
function* inTurn<Item>(items: readonly Item[], chance: () => number): Generator<Item> {
  for (;;) {
    const shuffled = items.map((item) => ({ item, at: chance() })).toSorted((one, other) => one.at - other.at)
    for (const { item } of shuffled) yield item
  }
}

/**
 * Disturbs two processes of each role and their servers under load, one fault after the other, lets them recover from each, and judges
 * the log, the call list, and the read models against a rebuild.
 */
export async function runFaultRounds(options: RoundsOptions): Promise<RoundsReport> {
  const { servers, rounds, seed, tell = () => {} } = options
  const chance = createRandom(seed)
  const between = ([least, most]: readonly [number, number]) => least + chance() * (most - least)
  const connectionStrings = () => ({
    EVENT_LOG_URL: servers.eventStoreUrl,
    READ_STORE_URL: databaseOf(servers.mongoUrl, `rounds-${seed}`),
  })
  const environment = await createFaultEnvironment({ name: 'servers to kill', connectionStrings })
  const world = await createWorldIn(environment.env, buildFaultWorld)
  const fleet = await createFleet(environment, roles, PROCESSES_PER_ROLE)
  const urlOf = (role: (typeof roles)[number]) => {
    const members = fleet.of(role)
    return members[Math.floor(chance() * members.length)]?.process.baseUrl ?? ''
  }
  await startAll(fleet)
  const load = startLoad(world, CLIENTS, () => urlOf('command-api'), chance)
  const names: string[] = []
  const ended: string[] = []
  const lookForDead = () => {
    const dead = revive(fleet)
    for (const sentence of dead) tell(sentence)
    ended.push(...dead)
  }
  const disturb = async () => {
    await untilServed(load, 'the start', lookForDead)
    for (const fault of inTurn(faultTable(fleet, servers, roles, chance), chance)) {
      if (names.length === rounds) return
      names.push(fault.name)
      tell(`${names.length} of ${rounds}: ${fault.name}`)
      const end = await fault.begin()
      await pause(between(FAULT_MS))
      await end()
      await pause(between(REST_MS))
      await untilServed(load, fault.name, lookForDead)
    }
  }
  try {
    await disturb().finally(() => load.stop())
    ended.push(...(await untilAllAnswer(fleet)))
    tell(`${load.acknowledged.size} calls and ${load.written.size} acts on them acknowledged`)
    const stop = async () => void ended.push(...(await fleet.stop()))
    const verdict = await judge(environment, { ...options, world, load, readUrl: urlOf('query-api'), stop })
    return { ...verdict, rounds: names, ended }
  } finally {
    await fleet.close()
    environment.remove()
  }
}

if (import.meta.main) {
  const servers = faultServers()
  if (!servers) throw new Error('Run it by SERVERS_DISK=1 with-servers.')
  const report = await runFaultRounds({
    servers,
    rounds: Number(process.argv[2] ?? 200),
    settleMs: 240_000,
    untilCharged: true,
    seed: Number(process.argv[3] ?? 1),
    tell: (sentence) => console.log(`${new Date().toISOString()} ${sentence}`),
  })
  const { unlike: _unlike, rounds, ...rest } = report
  const faults = faultsOf(report)
  console.log(JSON.stringify({ rounds: rounds.length, ...rest, faults }, null, 2))
  process.exitCode = faults.length + report.ended.length === 0 ? 0 : 1
}
