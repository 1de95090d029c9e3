import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWorkspace } from '../../commands/create-workspace.ts'
import { creditWallet } from '../../commands/credit-wallet.ts'
import type { ScriptedDial } from '../../src/adapters/simulator/script.ts'
import { openSimulator } from '../../src/adapters/simulator/simulator.ts'
import { openTelnyx, type TelnyxCarrier } from '../../src/adapters/telnyx/telnyx.ts'
import { publicKeyOf } from '../../src/adapters/telnyx/webhook.ts'
import type { AnyCommand } from '../../src/kernel/command.ts'
import type { NewEvent } from '../../src/kernel/event.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { lookupsOf } from '../../src/main/carrier-calls.ts'
import { createFlow } from '../../src/main/flow.ts'
import type { Carrier } from '../../src/ports/carrier.ts'
import { createStreamWriter } from '../../src/runtime/stream-writer.ts'
import { type Configuring, configuring } from './e2e-world.ts'
import { createManualClock, settle } from './memory-clock.ts'
import { createMemoryLog } from './memory-event-log.ts'
import { createMemoryOperationalStore } from './memory-operational-store.ts'
import { createSeededRandom } from './memory-random.ts'
import { simulatedCall } from './simulated-world.ts'
import { WORKSPACE } from './spec.ts'
import { createTelnyxCalls, type TelnyxCalls, type TelnyxCallsOptions } from './telnyx-calls.ts'
import { startTelnyxDouble, type TelnyxDouble } from './telnyx-double.ts'

const START = Date.UTC(2026, 5, 1, 12)
const STEP_MS = 250
/** How long the double may be silent, on the machine's own clock. */
const SILENCE_MS = 400
const STUCK_MS = 4 * 3_600_000

/** A caller, and what becomes of the dials, by destination. */
export interface Placed {
  readonly to: string
  readonly from: string | null
  readonly script: Readonly<Record<string, readonly ScriptedDial[]>>
  readonly hangsUpAfterSeconds?: number
}

/** The engine over one carrier, under a clock that moves by hand. */
export interface Rig {
  readonly world: Configuring
  readonly place: (call: Placed) => Promise<void>
  /** Lets so many seconds pass. */
  readonly pass: (seconds: number) => Promise<void>
  /** Looks into the calls that have been up for longer than any carrier keeps them. */
  readonly lookIntoStuck: () => Promise<void>
  /** What was written about calls, in the ledger and in their own streams. */
  readonly events: () => { readonly ledger: readonly NewEvent[]; readonly calls: readonly NewEvent[] }
  readonly close: () => Promise<void>
}

const SECRETS = { seal: (text: string) => `sealed ${text}`, unseal: (text: string) => text.replace(/^sealed /, '') }

/** What a rig is built around. */
async function engine() {
  const log = createMemoryLog()
  const ops = createMemoryOperationalStore()
  const clock = createManualClock(START)
  const random = createSeededRandom(7)
  const writer = createStreamWriter({ log, ops, clock, random, recall: async () => null })
  let carrier: Carrier | null = null
  const flow = createFlow({
    writer,
    carrier: () => {
      if (!carrier) throw new Error('There is no carrier yet.')
      return carrier
    },
    clock,
    claims: { ops, owner: 'rig' },
    onFailure: (_event, error) => {
      throw error
    },
  })
  let commands = 0
  const handle = async (command: AnyCommand, input: unknown) => {
    commands += 1
    const outcome = await writer.handle(command, command.input.parse(input), simulatedCall(`rig-${commands}`))
    if (isRefusal(outcome)) throw new Error(`${command.name}: ${JSON.stringify(outcome)}`)
    return outcome.events
  }
  await handle(createWorkspace, { name: 'Rig', timezone: 'UTC', planId: 'scale', sandbox: true })
  await handle(creditWallet, { amountCents: 100_000, reference: 'opening' })
  const world = configuring(handle, (prefix) => `${prefix}${commands}`)
  const ports = { log, ops, clock, random, secrets: SECRETS, listener: flow.listen }
  const use = (one: Carrier) => {
    carrier = one
  }
  return { log, ops, clock, random, writer, flow, world, ports, use }
}
type Engine = Awaited<ReturnType<typeof engine>>

function rigOf(
  { log, clock, flow, world }: Engine,
  rest: Pick<Rig, 'place' | 'close'>,
  quiet: () => Promise<void>,
): Rig {
  const pass = async (seconds: number) => {
    await quiet()
    for (let left = seconds * 1_000; left > 0; left -= STEP_MS) {
      await clock.advance(STEP_MS)
      await quiet()
    }
  }
  const of = (category: string) =>
    log.events.filter(({ stream }) => stream.startsWith(`${category}-`)).map(({ type, data }) => ({ type, data }))
  return {
    ...rest,
    world,
    pass,
    async lookIntoStuck() {
      const dueAt = START + STUCK_MS
      await clock.leap(dueAt - clock.now())
      await quiet()
      const arrived = log.events.filter(({ type }) => type === 'CallArrived')
      for (const { stream } of arrived) {
        await flow.due('stuck', WORKSPACE, { subjectId: stream.slice('call-'.length), dueAt, amountCents: null })
      }
      await pass(5)
    },
    events: () => ({ ledger: of('ledger'), calls: of('call') }),
  }
}

/** The engine over the simulator. */
export async function simulatorRig(): Promise<Rig> {
  const built = await engine()
  const simulator = await openSimulator({ ...built.ports, owner: 'rig', areaCodes: null })
  built.use(simulator)
  let placed = 0
  return rigOf(
    built,
    {
      async place({ to, from, script, hangsUpAfterSeconds }) {
        placed += 1
        const now = built.clock.now()
        const gives =
          hangsUpAfterSeconds === undefined ? null : new Date(now + hangsUpAfterSeconds * 1_000).toISOString()
        await simulator.place({
          workspaceId: WORKSPACE,
          callId: built.random.uuid(),
          carrierCallId: `sim_${placed}`,
          to,
          from,
          sipHeaders: {},
          script: Object.fromEntries(Object.entries(script).map(([target, dials]) => [target, [...dials]])),
          mode: 'live',
          speed: 1,
          seed: null,
          arrivesAt: new Date(now).toISOString(),
          givesUpAt: gives,
        })
      },
      close: () => simulator.close(),
    },
    () => settle(),
  )
}

/** The engine over Telnyx, whose place the double takes. */
export interface TelnyxRig extends Rig {
  readonly calls: TelnyxCalls
  readonly double: TelnyxDouble
  readonly carrier: TelnyxCarrier
  readonly engine: Engine
  /** Opens another process over the same stores, once the first is gone. */
  readonly reopen: () => Promise<void>
}

/** Starts the engine over the double, which tells by webhooks over HTTP. */
export async function telnyxRig(
  options: Pick<TelnyxCallsOptions, 'copies' | 'refuses'> & { readonly endless?: boolean } = {},
): Promise<TelnyxRig> {
  const built = await engine()
  let underWay = 0
  const counted = async <Result>(work: Promise<Result>): Promise<Result> => {
    underWay += 1
    try {
      return await work
    } finally {
      underWay -= 1
    }
  }
  let carrier: TelnyxCarrier | null = null
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    const taken = await carrier
      ?.hear({ headers: request.headers, bytes: Buffer.concat(chunks) })
      .catch(() => ({ refused: 'unavailable' }))
    response.writeHead(typeof taken === 'boolean' ? 200 : 503).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const calls = createTelnyxCalls({
    clock: built.clock,
    ...options,
    deliver: async ({ body, headers }) =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers: { ...headers, connection: 'close' } }))
        .ok,
  })
  const double = await startTelnyxDouble({ calls })
  const send: typeof fetch = (input, init) =>
    counted(
      fetch(input, init).then(async (response) => {
        const body = await response.arrayBuffer()
        return new Response(body.byteLength === 0 ? null : body, response)
      }),
    )
  const open = () => {
    const opened = openTelnyx(
      {
        apiKey: double.apiKey,
        connectionId: double.connectionId,
        apiBase: double.apiBase,
        publicKey: publicKeyOf(calls.publicKey),
        rents: false,
        timeoutMs: SILENCE_MS,
        fetch: send,
      },
      { ...built.ports, ...lookupsOf({ writer: built.writer, views: viewsOf(built), secrets: SECRETS }), sweeps: true },
    )
    carrier = opened
    built.use(opened)
    return opened
  }
  const first = open()
  const quiet = async () => {
    for (let still = 0; still < 8; ) {
      await new Promise((resolve) => setImmediate(resolve))
      still = underWay === 0 && calls.delivering() === 0 ? still + 1 : 0
    }
  }
  const rig = rigOf(
    built,
    {
      async place({ from, ...call }) {
        calls.place({ ...call, from: from ?? 'anonymous', ...(options.endless && { endless: true }) })
        await quiet()
      },
      async close() {
        await carrier?.close()
        await double.close()
        server.closeAllConnections()
        server.close()
      },
    },
    quiet,
  )
  return {
    ...rig,
    calls,
    double,
    carrier: first,
    engine: built,
    async reopen() {
      void carrier?.close()
      open()
    },
  }
}

/** Numbers as the read model would have them. */
function viewsOf({ log }: Engine): Parameters<typeof lookupsOf>[0]['views'] {
  return {
    find: async (_collection, { filter }) =>
      log.events.flatMap((event) => {
        if (event.type !== 'NumberProvisioned') return []
        const { number } = event.data as { readonly number: { readonly id: string; readonly e164: string } }
        const { id, ...doc } = number
        const held = { ...doc, workspaceId: event.meta.workspaceId }
        return number.e164 === (filter as { readonly e164?: string }).e164
          ? [{ id, position: event.position, doc: held }]
          : []
      }),
  }
}
