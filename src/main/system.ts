import { randomBytes, randomInt } from 'node:crypto'
import { ulid } from 'ulid'
import { v7 } from 'uuid'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/** Timers of Node take 32 bits of milliseconds. */
const LONGEST_WAIT_MS = 2_147_483_647

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(instant, wake) {
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

/** Bytes of chance that are drawn at once: a call of its own for each letter costs more than all the rest of an id. */
const DRAWN_BYTES = 4_096
let drawn = Buffer.alloc(0)
let used = 0

/** A fraction of 8 bits: ids take five of them at a time. */
function fraction(): number {
  if (used === drawn.length) {
    drawn = randomBytes(DRAWN_BYTES)
    used = 0
  }
  return (drawn[used++] ?? 0) / 256
}

/** A fresh id of a command: a ULID. */
export function newCommandId(): string {
  return ulid(Date.now(), fraction)
}
