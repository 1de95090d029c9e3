import { ulid } from 'ulid'
import type { Random } from '../../../src/ports/random.ts'

/** A random port with a seed (mulberry32). Its ids have the form of UUIDv7. */
export function createSeededRandom(seed = 1): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const hex = () => next().toString(16).padStart(8, '0')
  return {
    bytes: (count) => Uint8Array.from({ length: count }, () => next() & 0xff),
    seed: next,
    uuid: () => {
      const [a, b, c, d] = [hex(), hex(), hex(), hex()]
      return `${a}-${b.slice(0, 4)}-7${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`
    },
    ulid: () => ulid(0, () => next() / 2 ** 32),
  }
}
