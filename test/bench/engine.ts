import { join } from 'node:path'
import { creditWallet } from '../../commands/money/credit-wallet.ts'
import { openSimulator } from '../../src/adapters/simulator/simulator.ts'
import { openSqliteEventLog } from '../../src/adapters/sqlite/event-log.ts'
import { openSqliteOperationalStore } from '../../src/adapters/sqlite/operational-store.ts'
import { playCall, sandboxCall } from '../../src/api/sandbox.ts'
import { secretHash } from '../../src/api/secret-hash.ts'
import { monthAfter } from '../../src/domain/supply/renewal.ts'
import type { EventToAppend } from '../../src/kernel/event.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { createPlatformEffects } from '../../src/main/platform-effects.ts'
import { createSecrets } from '../../src/main/secrets.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import type { ScriptedDial } from '../../src/ports/call-script.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { buildWorld } from '../../src/seed/seed-world.ts'
import { addApiKey, createTenant, execute } from '../../src/seed/tenants.ts'
import { noAuctions } from '../support/fixtures/no-auctions.ts'
import { noDeliveries } from '../support/fixtures/no-deliveries.ts'

/** One append that the log took. */
export interface Append {
  readonly stream: string
  readonly expected: number
  readonly events: readonly EventToAppend[]
}

/** How long ago the played calls arrive, so that everything after them is due at once. */
const AGO_MS = 30 * 60_000
const AREA_CODES = ['212', '213', '214', '305', '312', '404', '415', '512', '617', '702', '713', '206']
const WALLET_CENTS = 1_000_000
/** The number of the target that answers. */
const TARGET_NUMBER = '+13125550101'

const busy: ScriptedDial = { result: 'busy', afterSeconds: 1 }
const answer = (n: number): ScriptedDial => ({
  result: 'answer',
  afterSeconds: 2 + (n % 9),
  talkSeconds: 10 + (n % 400),
})

/** The n-th call of a mix: most connect at the first target, some at the second, some are refused. */
function callOf(dial: ReadonlyMap<string, string>, n: number) {
  const area = AREA_CODES[n % AREA_CODES.length]
  const from = n % 20 === 7 ? null : `+1${area}555${String(100 + (n % 100)).padStart(4, '0')}`
  const to = dial.get(from === null ? 'strict' : n % 3 === 0 ? 'weighted' : 'waterfall')
  const script = { [TARGET_NUMBER]: n % 6 === 0 ? [busy] : [answer(n)] }
  return sandboxCall.parse({ to, from, script, mode: 'instant', at: new Date(clock.now() - AGO_MS).toISOString() })
}

/** A log that can record what is appended to it. */
function withRecording(log: EventLog) {
  const appends: Append[] = []
  let recording = false
  return {
    log: {
      ...log,
      async append(stream, expected, events) {
        const result = await log.append(stream, expected, events)
        if (recording && result.ok) appends.push({ stream, expected, events })
        return result
      },
    } satisfies EventLog,
    /** The appends that a piece of work makes, in order. */
    async recordAppends(work: () => Promise<void>): Promise<readonly Append[]> {
      appends.length = 0
      recording = true
      await work()
      recording = false
      return appends.slice()
    },
  }
}

/** Writer, effects and simulated carrier over a log, with the other stores in a directory. */
async function openPlatform(directory: string, plain: EventLog) {
  const { log, recordAppends } = withRecording(plain)
  const ops = await openSqliteOperationalStore(join(directory, 'views.ops.db'))
  const writer = createStreamWriter({ log, ops, clock, random, lookUp: async () => null })
  const failures: unknown[] = []
  const flow = createPlatformEffects({
    log,
    deliveries: noDeliveries,
    auctions: noAuctions,
    writer,
    carrier: () => simulator,
    clock,
    claims: { ops, owner: 'bench' },
    onFailure: (_event, error) => failures.push(error),
  })
  const simulator = await openSimulator({
    log,
    ops,
    clock,
    random,
    secrets: createSecrets(Buffer.from(random.bytes(32)), random),
    owner: random.uuid(),
    numbers: null,
    listener: flow.handleCarrierNotice,
  })
  return {
    log,
    recordAppends,
    writer,
    simulator,
    failures,
    async close(): Promise<void> {
      await simulator.close()
      await writer.close()
      await Promise.all([plain.close(), ops.close()])
    },
  }
}
type Platform = Awaited<ReturnType<typeof openPlatform>>

/** Creates a configured workspace with API keys; `dial` gives its numbers by name. */
export async function createBenchWorkspace({ writer }: Pick<Platform, 'writer'>, secrets: readonly string[]) {
  const workspaceId = random.uuid()
  const owner = { email: 'owner@bench.example', name: 'Owner', password: random.uuid() }
  await createTenant(writer, { workspaceId, name: 'Bench', timezone: 'UTC', planId: 'scale', sandbox: true, owner })
  for (const secret of secrets)
    await addApiKey(writer, workspaceId, { secret, name: secret.slice(-6), ratePerMinute: 1_200 })
  const newKey = () => ({ prefix: 'rk_', hash: secretHash(random.uuid()) })
  const { dial } = await buildWorld(
    (step, command, input) => execute(writer, workspaceId, command, input, step),
    newKey,
    monthAfter(new Date(clock.now()).toISOString()),
  )
  await execute(writer, workspaceId, creditWallet, { amountCents: WALLET_CENTS, reference: 'bench' })
  return { workspaceId, dial }
}

/** Plays the calls of the mix, one at each call of the result. */
export function createCallPlayer(
  { writer, simulator }: Pick<Platform, 'writer' | 'simulator'>,
  workspaceId: string,
  dial: ReadonlyMap<string, string>,
): () => Promise<void> {
  const ports = {
    ...noAuctions,
    writer,
    simulator,
    clock,
    random,
    awaitProjections: async () => {
      throw new Error('Nothing is read back here.')
    },
  }
  let played = 0
  return async () => {
    const commandId = random.ulid()
    const caller = {
      workspaceId,
      actor: { type: 'system', id: null, name: 'Bench' },
      commandId,
      correlationId: commandId,
      causationId: null,
      surface: 'sandbox',
      ip: null,
    } as const
    const outcome = await playCall(
      { ...ports, ...noAuctions, leaseOf: async () => null },
      workspaceId,
      callOf(dial, played++),
      caller,
    )
    if (isRefusal(outcome)) throw new Error(`A call was refused: ${outcome.refused}.`)
  }
}

/** Secrets of the API keys of the engine's workspace, and its log: a SQLite file by default. */
interface EngineOptions {
  readonly secrets?: readonly string[]
  readonly log?: EventLog
}

/** The engine alone over stores in a directory: writer, effects and simulated carrier, with a configured workspace. */
export async function openEngine(directory: string, { secrets = [], log: given }: EngineOptions = {}) {
  const platform = await openPlatform(directory, given ?? (await openSqliteEventLog(join(directory, 'events.db'))))
  const { workspaceId, dial } = await createBenchWorkspace(platform, secrets)
  const playOne = createCallPlayer(platform, workspaceId, dial)
  const { log, writer, recordAppends, failures, close } = platform
  return {
    log,
    writer,
    workspaceId,
    /** A number that can be dialled. */
    dialed: dial.get('waterfall') ?? '',
    /** The n-th call of the mix, as a client would send it. */
    callOf: (n: number) => callOf(dial, n),
    /** Plays calls, `atOnce` at a time. @throws the error of a call that failed */
    async play(calls: number, atOnce: number): Promise<void> {
      let left = calls
      const playRest = async () => {
        while (left-- > 0) await playOne()
      }
      await Promise.all(Array.from({ length: atOnce }, playRest))
      if (failures.length > 0) throw failures[0]
    },
    recordAppends,
    close,
  }
}
export type Engine = Awaited<ReturnType<typeof openEngine>>
