import { randomBytes, randomInt } from 'node:crypto'
import { v7 } from 'uuid'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/** Timers of Node take 32 bits of milliseconds. */
const LONGEST_WAIT_MS = 2_147_483_647

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  at(instant, wake) {
    let timer: NodeJS.Timeout
    const wait = () => {
      const left = instant - Date.now()
      timer = left > LONGEST_WAIT_MS ? setTimeout(wait, LONGEST_WAIT_MS) : setTimeout(wake, Math.max(0, left))
    }
    wait()
    return () => clearTimeout(timer)
  },
}

/** The machine's chance. */
export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  seed: () => randomInt(0, 2 ** 32),
  uuid: () => v7(),
}
