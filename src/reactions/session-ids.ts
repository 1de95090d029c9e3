import { createSingleFlight } from '../kernel/async/single-flight.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperationalStore } from '../ports/operational-store.ts'
import type { Random } from '../ports/random.ts'

/** Ids of one block. */
const PER_BLOCK = 1_024
/** Random bits of an id, below its place in the sequence of all. */
const RANDOM_BITS = 16
const RANDOM_BYTES = RANDOM_BITS / 8
/** Number of the first block: its ids, and those of the next 67 million blocks, have sixteen digits, and are integers in JavaScript too. */
const FIRST_BLOCK = 2 ** 52 / 2 ** RANDOM_BITS / PER_BLOCK
const COUNTER = 'lease-session-blocks'

/** The next id of a visitor's session. @throws StoreUnavailable */
export type NextSessionId = () => Promise<string>

/** Ids that a process has taken, and the random bytes for them. */
interface Block {
  readonly number: number
  readonly random: DataView
  used: number
}

/**
 * Creates the source of sessions' ids. The blocks that a process takes from the operational store make them unique over workspaces and
 * processes; random bits make them hard to guess. They rise, so that new entries of sessions share the pages of a store's index.
 */
export function createSessionIds({
  ops,
  clock,
  random,
}: {
  readonly ops: Pick<OperationalStore, 'increment'>
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
}): NextSessionId {
  const flight = createSingleFlight<Block>()
  let block: Block | null = null

  async function takeBlock(): Promise<Block> {
    const taken = await ops.increment(COUNTER, 1, null, clock.now())
    const bytes = random.bytes(PER_BLOCK * RANDOM_BYTES)
    return { number: FIRST_BLOCK + taken, random: new DataView(bytes.buffer, bytes.byteOffset), used: 0 }
  }

  return async () => {
    while (block === null || block.used === PER_BLOCK) block = await flight('', takeBlock)
    const { number, random, used } = block
    block.used += 1
    const noise = random.getUint16(used * RANDOM_BYTES)
    return String((number * PER_BLOCK + used) * 2 ** RANDOM_BITS + noise)
  }
}
