import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Pool } from 'undici'
import { openEventStoreDb } from '../../src/adapters/eventstoredb/event-store-db.ts'
import { openSqliteOperationalStore } from '../../src/adapters/sqlite/operational-store.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { HOST } from './api-server.ts'
import { createBenchWorkspace } from './engine.ts'
import { alternate, type Figure, figureOf } from './measure.ts'
import { withDirectory } from './temp-directory.ts'
import type { SentCommand, WriterRole } from './writer-process.ts'

/** Clients, each of which sends one command after the other. */
const CLIENTS = 64
/** Processes of the cases on one workspace. */
const PROCESSES = [2, 4, 8]
const WORKSPACES = 64
/** Workspaces that are made at once. */
const MADE_AT_ONCE = 8
/** How long a side of a pair lasts (ms). */
const RUN_MS = 2_000
/** How long the processes take at most to settle who decides a workspace (ms), before what is measured. */
const SETTLE_MS = 3_000
const ROOT = Buffer.alloc(32, 1).toString('base64')

/** A process, and the connections of the clients to it. */
interface Running {
  readonly child: ChildProcess
  readonly pool: Pool
  readonly url: string
}

/** A workspace that takes commands. */
interface Target {
  readonly workspaceId: string
  readonly dialed: string
  readonly buyerId: string
}

async function run(role: WriterRole): Promise<Running> {
  const child = fork(join(import.meta.dirname, 'writer-process.ts'), [JSON.stringify(role)])
  const [port] = await once(child, 'message')
  const url = `http://${HOST}:${port}`
  return { child, url, pool: new Pool(url, { connections: CLIENTS }) }
}

async function stop({ child, pool }: Running): Promise<void> {
  await pool.destroy()
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Makes workspaces that take commands, some at once. */
async function makeWorkspaces(eventStoreUrl: string, directory: string, count: number): Promise<readonly Target[]> {
  const [log, ops] = [
    await openEventStoreDb(eventStoreUrl),
    await openSqliteOperationalStore(join(directory, 'made.ops.db')),
  ]
  const writer = createStreamWriter({ log, ops, clock, random, lookUp: async () => null })
  const targets: Target[] = []
  const makeRest = async () => {
    for (; targets.length < count; ) {
      const { workspaceId, dial } = await createBenchWorkspace({ writer }, [])
      const [buyerId = ''] = (await writer.stateOf(workspace, workspaceId)).buyers.keys()
      targets.push({ workspaceId, dialed: dial.get('waterfall') ?? '', buyerId })
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, MADE_AT_ONCE) }, makeRest))
  await writer.close()
  await Promise.all([log.close(), ops.close()])
  return targets.slice(0, count)
}

/** The commands of one client, in turn: of ten, four route a call, four end one, one credits the wallet, one changes a buyer. */
function* commandsOf({ workspaceId, dialed, buyerId }: Target): Generator<SentCommand, never> {
  const command = (name: string, input: unknown) => ({ command: name, workspaceId, commandId: random.uuid(), input })
  for (;;) {
    for (let call = 0; call < 4; call++) {
      const callId = random.uuid()
      const occurredAt = new Date(clock.now()).toISOString()
      const caller = `+1212555${String(Math.floor(Math.random() * 10_000)).padStart(4, '0')}`
      const arrival = {
        callId,
        carrierCallId: callId,
        to: dialed,
        caller,
        routingKeyHash: null,
        seed: null,
        occurredAt,
      }
      yield command('route-call', arrival)
      yield command('release-call', { callId, connected: false, occurredAt })
    }
    yield command('credit-wallet', { amountCents: 100, reference: random.uuid() })
    yield command('change-buyer', { buyerId, changes: { notes: random.uuid() } })
  }
}

/** Starts a process of the platform. Those of one group alone know each other. */
type Start = (group: string) => Promise<Running>

/** Which process takes a command: by the number of the client, and of its command. */
type Policy = (client: number, command: number) => number

/** Clients have credentials of their own, and the proxy leads those of one credential to one process (`docker/Caddyfile`). */
const byCredential: Policy = (client) => client
/** To each process in turn: whatever the proxy does, all processes write the same workspace. */
const inTurn: Policy = (client, command) => client + command

/** Commands a second that clients get answered, spread over processes and workspaces. @throws Error for one that fails */
async function rateOf(
  processes: readonly Running[],
  targets: readonly Target[],
  policy: Policy,
  ms = RUN_MS,
): Promise<number> {
  const begun = performance.now()
  let answered = 0
  const client = async (n: number) => {
    const target = targets[n % targets.length]
    if (!target) throw new RangeError('There is no workspace.')
    let sent = 0
    for (const command of commandsOf(target)) {
      if (performance.now() - begun > ms) return
      const process = processes[policy(n, sent++) % processes.length]
      if (!process) throw new RangeError('There is no process.')
      const { statusCode, body } = await process.pool.request({
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(command),
      })
      const answer = await body.text()
      if (statusCode !== 200) throw new Error(answer)
      answered += 1
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)))
  return (answered * 1_000) / (performance.now() - begun)
}

/** Processes of the platform on one workspace beside as many bare processes that forward everything to one of the platform. */
async function onOneWorkspace(start: Start, [disputed, alone]: readonly Target[], count: number): Promise<Figure> {
  if (!disputed || !alone) throw new RangeError('Two workspaces are needed.')
  const single = await start(`alone-${count}`)
  const ours: Running[] = []
  const bare: Running[] = []
  for (let n = 0; n < count; n++) {
    ours.push(await start(`together-${count}`))
    bare.push(await run({ kind: 'forwarder', to: single.url }))
  }
  await rateOf(ours, [disputed], inTurn, SETTLE_MS)
  const pairs = await alternate(
    () => rateOf(ours, [disputed], inTurn),
    () => rateOf(bare, [alone], inTurn),
  )
  await Promise.all([single, ...ours, ...bare].map(stop))
  return figureOf(`commands of ${count} processes on one workspace`, 'commands/s', { atLeast: 0.8 }, pairs)
}

/** Two processes of the platform on many workspaces beside one on as many others. */
async function onManyWorkspaces(start: Start, targets: readonly Target[]): Promise<Figure> {
  const [ofPair, ofSingle] = [targets.slice(0, WORKSPACES), targets.slice(WORKSPACES)]
  const single = await start('alone-many')
  const pair = [await start('together-many'), await start('together-many')]
  await rateOf([single], ofSingle, byCredential, SETTLE_MS)
  await rateOf(pair, ofPair, byCredential, SETTLE_MS)
  const pairs = await alternate(
    () => rateOf(pair, ofPair, byCredential),
    () => rateOf([single], ofSingle, byCredential),
  )
  await Promise.all([single, ...pair].map(stop))
  return figureOf(`commands of 2 processes on ${WORKSPACES} workspaces`, 'commands/s', { atLeast: 1.3 }, pairs)
}

/** A fixed mix of commands over EventStoreDB: several processes on one workspace, and two on many. */
export function writersOnEventStore(eventStoreUrl: string): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const start: Start = (group) =>
      run({ kind: 'writer', eventStoreUrl, operationalFile: join(directory, `${group}.ops.db`), root: ROOT })
    const targets = await makeWorkspaces(eventStoreUrl, directory, 2 * WORKSPACES)
    const figures: Figure[] = []
    for (const [n, count] of PROCESSES.entries()) figures.push(await onOneWorkspace(start, targets.slice(2 * n), count))
    return [...figures, await onManyWorkspaces(start, targets)]
  })
}
