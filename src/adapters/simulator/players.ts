import { StoreUnavailable } from '../../ports/read-store.ts'
import type { PlacedCall } from '../../ports/simulated-carrier.ts'
import { readCall, type StoredCall } from './call-stream.ts'
import type { Ownership } from './ownership.ts'
import { writePlacement } from './placement.ts'
import { createPlayer, type Player, type PlayerPorts } from './player.ts'

/** Milliseconds after which a command takes over a call whose owner has not executed it. */
const PATIENCE_MS = 5_000

/** A command as far as finding its call needs it. */
interface CallCommand {
  readonly carrierCallId: string
  readonly commandId: string
}

/** The calls that this process plays. */
interface Players {
  readonly of: (carrierCallId: string) => Player | null
  readonly play: (placed: PlacedCall, stored: StoredCall) => Player
  /** Takes over a call; null when a living process owns it (unless `forced`), when it has ended or is not placed yet. */
  readonly adopt: (carrierCallId: string, forced?: boolean) => Promise<Player | null>
  readonly close: () => void
}

/** Opens the calls of this process. */
export function createPlayers(ports: PlayerPorts, ownership: Ownership): Players {
  const players = new Map<string, Player>()
  let closed = false

  /** A call that another process plays keeps its entry. */
  async function forget(carrierCallId: string, ended: boolean): Promise<void> {
    players.delete(carrierCallId)
    if (ended && !closed) await ownership.drop(carrierCallId).catch(() => undefined)
  }

  function play(placed: PlacedCall, stored: StoredCall): Player {
    const { carrierCallId } = placed
    const known = players.get(carrierCallId)
    if (known) return known
    const player = createPlayer(ports, placed, stored)
    players.set(carrierCallId, player)
    void player.over.then((ended) => forget(carrierCallId, ended))
    return player
  }

  return {
    of: (carrierCallId) => players.get(carrierCallId) ?? null,
    play,
    async adopt(carrierCallId, forced = false) {
      const acquired = await ownership.acquire(carrierCallId, forced)
      if (!acquired) return null
      const stored = await readCall(ports, carrierCallId)
      const { ended, placed } = stored.state
      if (ended) await ownership.drop(carrierCallId)
      else if (!placed) await ownership.holdUnplaced(carrierCallId, acquired)
      else {
        if (acquired.until !== null) await ownership.hold(carrierCallId)
        return play(placed, stored)
      }
      return null
    },
    close() {
      closed = true
      for (const player of players.values()) player.stop()
    },
  }
}

/** Places calls, and takes up those that no living process plays. */
export function createPlacements(ports: PlayerPorts, ownership: Ownership, players: Players) {
  /** Calls being placed: they are not left behind. */
  const placing = new Set<string>()

  return {
    async place(call: PlacedCall): Promise<Player> {
      const { carrierCallId } = call
      placing.add(carrierCallId)
      try {
        await ownership.hold(carrierCallId)
        const { placed, stored } = await writePlacement(ports, call)
        return players.play(placed, stored)
      } finally {
        placing.delete(carrierCallId)
      }
    },
    /** A failure is retried with the next heartbeat. */
    async takeOver(): Promise<void> {
      const calls = await ownership.calls().catch(() => [])
      for (const carrierCallId of calls) {
        if (players.of(carrierCallId) || placing.has(carrierCallId)) continue
        const player = await players.adopt(carrierCallId).catch(() => null)
        await player?.start().catch(() => undefined)
      }
    },
  }
}

/** Creates the function that finds the player of a command's call; null when the command was executed or the call ended. */
export function createPlayerLookup(ports: PlayerPorts, players: Players) {
  const { clock } = ports
  /** Ids of commands for calls of other processes, and since when (ms) they wait. */
  const waiting = new Map<string, number>()

  /** @throws StoreUnavailable while another process plays the call */
  return async ({ carrierCallId, commandId }: CallCommand): Promise<Player | null> => {
    const here = players.of(carrierCallId)
    if (here) return here
    const { ended, commands } = (await readCall(ports, carrierCallId)).state
    const isDone = ended || commands.includes(commandId)
    const since = waiting.get(commandId) ?? clock.now()
    const adopted = isDone ? null : await players.adopt(carrierCallId, clock.now() - since >= PATIENCE_MS)
    if (isDone || adopted) {
      waiting.delete(commandId)
      return adopted
    }
    waiting.set(commandId, since)
    throw new StoreUnavailable(`Another process plays the simulated call ${carrierCallId}.`)
  }
}
