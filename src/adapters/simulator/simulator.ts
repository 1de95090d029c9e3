import { dialResultOf, entryFor } from '../../ports/call-script.ts'
import type { Carrier } from '../../ports/carrier.ts'
import type { CarrierNumbers } from '../../ports/carrier-numbers.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { StoreUnavailable } from '../../ports/read-store.ts'
import type { Simulator } from '../../ports/simulated-carrier.ts'
import { readCall } from './call-stream.ts'
import { createOwnership, type Ownership } from './ownership.ts'
import type { PlayerPorts } from './player.ts'
import { createPlacements, createPlayerLookup, createPlayers } from './players.ts'
import { createSimulatedRecordings } from './recordings.ts'

export interface SimulatorPorts extends PlayerPorts {
  readonly ops: OperationalStore
  /** Names this process among those that share the stores. */
  readonly owner: string
  /** Renting numbers; null where ordering is not configured. */
  readonly numbers: CarrierNumbers | null
}

const HEARTBEAT_MS = 1_000
const ANSWERED = { outcome: 'answered', sipCode: null } as const

/** A dial without a caller ends as one of an empty script. */
const probe: Carrier['probe'] = async ({ targetId, destination, ringSeconds }) => {
  const input = { targetId, destination, ringSeconds, acceptDigit: null }
  const result = dialResultOf(entryFor({}, input, 0), input)
  const { outcome, sipCode } = result.answered ? ANSWERED : result
  return { outcome, sipCode, ms: result.afterSeconds * 1_000 }
}

/** Says every second that this process is alive, and takes over calls; a slow take-over does not delay the next beat. */
function startHeartbeat(clock: Clock, ownership: Ownership, takeOver: () => Promise<void>): () => void {
  let cancel = () => {}
  let stopped = false
  let takingOver = false

  async function takeOverOnce(): Promise<void> {
    if (takingOver) return
    takingOver = true
    await takeOver().finally(() => {
      takingOver = false
    })
  }

  async function beat(): Promise<void> {
    if (stopped) return
    try {
      await ownership.beat()
      void takeOverOnce()
    } catch {
      // The store is unavailable: the next beat tries again.
    }
    if (!stopped) cancel = clock.schedule(clock.now() + HEARTBEAT_MS, () => void beat())
  }

  void beat()
  return () => {
    stopped = true
    cancel()
  }
}

/** Opens the simulated carrier; it takes up the calls that a crashed process was playing. */
export async function openSimulator(ports: SimulatorPorts): Promise<Simulator> {
  const { clock, numbers } = ports
  const ownership = createOwnership(ports)
  const players = createPlayers(ports, ownership)
  const { place, takeOver } = createPlacements(ports, ownership, players)
  const playerFor = createPlayerLookup(ports, players)
  await ownership.beat()
  const stopHeartbeat = startHeartbeat(clock, ownership, takeOver)

  return {
    name: 'Simulated carrier',
    numbers,
    recordings: createSimulatedRecordings(clock, async (carrierCallId) => (await readCall(ports, carrierCallId)).state),
    async place(placed) {
      const player = await place(placed)
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
    probe,
    async close() {
      stopHeartbeat()
      players.close()
      await ownership.leave().catch(() => undefined)
    },
  }
}
