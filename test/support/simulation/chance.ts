import { ulid } from 'ulid'
import { createRandom } from '../../../src/domain/routing/random.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Random } from '../../../src/ports/random.ts'

/** Every random choice of a simulated run. The same seed makes the same choices. */
export interface Chance {
  /** A whole number from 0 to `count` - 1. */
  readonly pick: (count: number) => number
  readonly odds: (probability: number) => boolean
  readonly between: (least: number, most: number) => number
  /** @throws RangeError for an empty list */
  readonly among: <Item>(items: readonly Item[]) => Item
}

/** Creates the choices of a seed. */
export function chanceFrom(seed: number): Chance {
  const next = createRandom(seed)
  const pick = (count: number) => Math.floor(next() * count)
  return {
    pick,
    odds: (probability) => next() < probability,
    between: (least, most) => least + pick(most - least + 1),
    among(items) {
      const at = pick(items.length)
      const item = items[at]
      if (item === undefined) throw new RangeError('There is nothing to pick from.')
      return item
    },
  }
}

/** The random port over a seed. Its ids carry the simulated time, as UUIDv7 carry the real one. */
export function simulatedRandom(seed: number, clock: Pick<Clock, 'now'>): Random {
  const next = createRandom(seed)
  const word = () => Math.floor(next() * 2 ** 32)
  const hex = (digits: number) => word().toString(16).padStart(8, '0').slice(0, digits)
  return {
    bytes: (count) => Uint8Array.from({ length: count }, () => word() & 0xff),
    seed: word,
    uuid() {
      const ms = clock.now().toString(16).padStart(12, '0')
      return `${ms.slice(0, 8)}-${ms.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`
    },
    ulid: () => ulid(clock.now(), next),
  }
}
