import { upcast, versionOf } from '../../kernel/entity.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import { dialResultOf, entryFor } from '../../ports/call-script.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import type { PlacedCall, Simulator } from '../../ports/simulated-carrier.ts'
import { sealHeaders } from './headers.ts'
import { createSimulatedNumbers } from './numbers.ts'
import { createPlayer, type Player, type PlayerPorts } from './player.ts'
import { createSimulatedRecordings } from './recordings.ts'
import { type SimulatedCallState, simulatedCall, simulatedCallEvents } from './simulated-call.ts'

export interface SimulatorPorts extends PlayerPorts {
  readonly ops: OperationalStore
  /** Names this process among those that share the stores. */
  readonly owner: string
  /** Area codes with their states, of which numbers are rented; null where none are. */
  readonly areaCodes: ReadonlyMap<string, string> | null
}

const HEARTBEAT_MS = 1_000
/** Without a heartbeat for this long a process counts as gone, and its calls are taken over. */
const GONE_MS = 3_000
/** A command that the process which plays the call has not taken for this long takes the call along. */
const PATIENCE_MS = 5_000
/** So long the entry of a call is kept that was not placed: whoever was placing it may only be slow. */
const UNPLACED_MS = 3_600_000

const callKey = (carrierCallId: string) => `simulated-call:${carrierCallId}`
const ownerKey = (owner: string) => `simulator:${owner}`

const ANSWERED = { outcome: 'answered', sipCode: null } as const

/** Where a simulated call stands after its events. */
function foldOf(events: readonly RecordedEvent[]) {
  const evolve = simulatedCall.evolve as Readonly<
    Record<string, (state: SimulatedCallState, event: RecordedEvent) => SimulatedCallState>
  >
  const state = events.reduce((before, event) => {
    const current = upcast(simulatedCall, event)
    return evolve[current.type]?.(before, current) ?? before
  }, simulatedCall.initial)
  return { state, revision: events.length - 1 }
}

/** Opens the simulated carrier; it takes up the calls that a process now gone was playing. */
export async function openSimulator(ports: SimulatorPorts): Promise<Simulator> {
  const { log, ops, clock, owner, areaCodes } = ports
  const players = new Map<string, Player>()
  /** Calls whose placing is under way: not yet to be taken for left behind. */
  const placing = new Set<string>()
  /** Commands for calls that others play, by id, and since when they have not been taken. */
  const untaken = new Map<string, number>()
  let cancel = () => {}
  let closed = false
  /** Calls are taken over beside the heartbeat: however many there are, it does not wait for them. */
  let takingOver = false

  async function load(carrierCallId: string) {
    return foldOf(await log.read(`${simulatedCall.name}-${carrierCallId}`, 0))
  }

  function play(placed: PlacedCall, state: SimulatedCallState, revision: number): Player {
    const player = createPlayer(ports, { state, revision, placed })
    players.set(placed.carrierCallId, player)
    void player.over.then((ended) => forget(placed.carrierCallId, ended))
    return player
  }

  /** A call that was let go of keeps its entry: it is played on from the log, here or elsewhere. */
  async function forget(carrierCallId: string, ended: boolean): Promise<void> {
    players.delete(carrierCallId)
    if (ended && !closed) await ops.delete(callKey(carrierCallId)).catch(() => undefined)
  }

  /** Takes over a call that nobody plays (or, `forced`, whoever does); null when somebody does, when it is over or not placed yet. */
  async function adopt(carrierCallId: string, forced = false): Promise<Player | null> {
    const key = callKey(carrierCallId)
    const entry = await ops.get(key, clock.now())
    const holder = entry && String(entry.value)
    const elsewhere = holder && holder !== owner && (await ops.get(ownerKey(holder), clock.now()))
    if (elsewhere && !forced) return null
    const until = entry?.expiresAt ?? null
    if (!(await ops.putIf(key, entry?.version ?? 0, owner, until, clock.now()))) return null
    const { state, revision } = await load(carrierCallId)
    if (state.ended) await ops.delete(key)
    else if (!state.placed) await ops.put(key, owner, until ?? clock.now() + UNPLACED_MS)
    else {
      if (until !== null) await ops.put(key, owner, null)
      return players.get(carrierCallId) ?? play(state.placed, state, revision)
    }
    return null
  }

  /** Takes up the calls that nobody plays. What fails is tried again at the next beat. */
  async function takeOver(): Promise<void> {
    const entries = await ops.list('simulated-call:', clock.now(), { limit: 10_000 }).catch(() => [])
    for (const { key } of entries) {
      const carrierCallId = key.slice('simulated-call:'.length)
      if (players.has(carrierCallId) || placing.has(carrierCallId)) continue
      const player = await adopt(carrierCallId).catch(() => null)
      await player?.start().catch(() => undefined)
    }
  }

  async function beat(): Promise<void> {
    if (closed) return
    try {
      await ops.put(ownerKey(owner), true, clock.now() + GONE_MS)
      if (!takingOver) {
        takingOver = true
        void takeOver().finally(() => {
          takingOver = false
        })
      }
    } catch {
      // A store that is away is tried again at the next beat.
    }
    if (!closed) cancel = clock.schedule(clock.now() + HEARTBEAT_MS, () => void beat())
  }

  /** The player of a call, wherever it was played before; null when the command needs none any more. */
  async function playerFor({
    carrierCallId,
    commandId,
  }: {
    readonly carrierCallId: string
    readonly commandId: string
  }): Promise<Player | null> {
    const here = players.get(carrierCallId)
    if (here) return here
    const { state } = await load(carrierCallId)
    const taken = state.ended || state.commands.includes(commandId)
    const since = untaken.get(commandId) ?? clock.now()
    const adopted = taken ? null : await adopt(carrierCallId, clock.now() - since >= PATIENCE_MS)
    if (taken || adopted) {
      untaken.delete(commandId)
      return adopted
    }
    untaken.set(commandId, since)
    throw new StoreUnavailable(`Another process plays the simulated call ${carrierCallId}.`)
  }

  await ops.put(ownerKey(owner), true, clock.now() + GONE_MS)
  void beat()

  async function write(placed: PlacedCall): Promise<Player> {
    placing.add(placed.carrierCallId)
    const kept = { ...placed, sipHeaders: sealHeaders(placed.sipHeaders, ports.secrets) }
    try {
      await ops.put(callKey(placed.carrierCallId), owner, null)
      const event = {
        type: 'SimulatedCallPlaced',
        data: simulatedCallEvents.SimulatedCallPlaced.parse(kept),
        version: versionOf(simulatedCall, 'SimulatedCallPlaced'),
        meta: {
          eventId: ports.random.uuid(),
          workspaceId: placed.workspaceId,
          at: new Date(clock.now()).toISOString(),
          actor: { type: 'carrier', id: null, name: 'Simulated carrier' },
          commandId: placed.carrierCallId,
          correlationId: placed.callId,
          causationId: null,
          surface: 'carrier',
          ip: null,
        },
      } as const
      const stream = `${simulatedCall.name}-${placed.carrierCallId}`
      const result = await log.append(stream, -1, [event])
      const { state, revision } = result.ok
        ? foldOf([{ ...event, stream, revision: 0, position: result.position }])
        : await load(placed.carrierCallId)
      return players.get(placed.carrierCallId) ?? play(state.placed ?? kept, state, revision)
    } finally {
      placing.delete(placed.carrierCallId)
    }
  }

  return {
    name: 'Simulated carrier',
    numbers: areaCodes && createSimulatedNumbers({ ...ports, areaCodes }),
    recordings: createSimulatedRecordings(clock, async (carrierCallId) => (await load(carrierCallId)).state),
    async place(placed) {
      const player = await write(placed)
      await player.start()
      if (placed.mode === 'instant' && !(await player.over)) {
        throw new StoreUnavailable(`The simulated call ${placed.carrierCallId} is played on by another process.`)
      }
    },
    async dial(command) {
      await (await playerFor(command))?.dial(command)
    },
    async release(command) {
      await (await playerFor(command))?.release(command)
    },
    async probe({ targetId, destination, ringSeconds }) {
      const dialled = { targetId, destination, ringSeconds, acceptDigit: null }
      const result = dialResultOf(entryFor({}, dialled, 0), dialled)
      const { outcome, sipCode } = result.answered ? ANSWERED : result
      return { outcome, sipCode, ms: result.afterSeconds * 1_000 }
    },
    async close() {
      closed = true
      cancel()
      for (const player of players.values()) player.stop()
      await ops.delete(ownerKey(owner)).catch(() => undefined)
    },
  }
}
