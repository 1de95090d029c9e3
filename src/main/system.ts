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

/** Bytes of chance that are drawn at once: a call of its own for each id costs more than all the rest of it. */
const DRAWN_BYTES = 4_096
let drawn = Buffer.alloc(0)
let used = 0

/** Bytes of chance for an id. */
function drawBytes(count: number): Uint8Array {
  if (used + count > drawn.length) {
    drawn = randomBytes(DRAWN_BYTES)
    used = 0
  }
  used += count
  return drawn.subarray(used - count, used)
}

const UUID_BYTES = 16
/** Instant and sequence of the last UUID, so that they rise within a millisecond too. */
const last = { msecs: 0, seq: 0 }

/** A fresh UUIDv7, greater than those before it. */
function newUuid(): string {
  const random = drawBytes(UUID_BYTES)
  const now = Date.now()
  if (now > last.msecs) {
    last.msecs = now
    // 24 of its 32 bits, so that no millisecond makes it run over.
    last.seq = ((random[6] ?? 0) << 16) | ((random[7] ?? 0) << 8) | (random[8] ?? 0)
  } else last.seq += 1
  return v7({ random, ...last })
}

/** A fraction of 8 bits: ids take five of them at a time. */
const fraction = (): number => (drawBytes(1)[0] ?? 0) / 256

/** The machine's chance. */
export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  seed: () => randomInt(0, 2 ** 32),
  uuid: newUuid,
  ulid: () => ulid(Date.now(), fraction),
}
