/** A number with an instant (ms) that its own is not before. */
interface Place {
  readonly id: string
  readonly at: number
}

const isBefore = (one: Place, other: Place) => one.at < other.at || (one.at === other.at && one.id < other.id)

/**
 * Numbers in the order of an instant each, ties by id: a binary heap. Instants are lower bounds: who finds the first one's to be later
 * sets it, and looks again. So the first whose instant is right is the first of all.
 */
export interface NumberQueue {
  readonly first: () => Place | undefined
  /** The instant of a number; 0 for one that the queue does not have. */
  readonly at: (id: string) => number
  /** Sets the instant of a number. */
  readonly set: (id: string, at: number) => void
}

/** Creates the queue of numbers. */
export function createNumberQueue(numbers: Iterable<readonly [id: string, at: number]>): NumberQueue {
  const heap: Place[] = []
  const current = new Map<string, number>()

  /** Moves the last place up to where it belongs. */
  function swim(): void {
    let at = heap.length - 1
    const place = heap[at]
    while (place && at > 0) {
      const up = (at - 1) >> 1
      const above = heap[up]
      if (!above || !isBefore(place, above)) break
      heap[at] = above
      at = up
    }
    if (place) heap[at] = place
  }

  /** Puts a place in the stead of the first one, down to where it belongs. */
  function sink(place: Place): void {
    let at = 0
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const [one, other] = [heap[left], heap[right]]
      const isRight = one !== undefined && other !== undefined && isBefore(other, one)
      const below = isRight ? other : one
      if (!below || !isBefore(below, place)) break
      heap[at] = below
      at = isRight ? right : left
    }
    heap[at] = place
  }

  function removeFirst(): void {
    const last = heap.pop()
    if (last !== undefined && heap.length > 0) sink(last)
  }

  function set(id: string, at: number): void {
    if (current.get(id) === at) return
    current.set(id, at)
    if (heap[0]?.id === id) sink({ id, at })
    else {
      heap.push({ id, at })
      swim()
    }
  }

  for (const [id, at] of numbers) set(id, at)
  return {
    set,
    at: (id) => current.get(id) ?? 0,
    first() {
      // A number whose instant was set again has another place.
      for (let place = heap[0]; place; place = heap[0]) {
        if (current.get(place.id) === place.at) return place
        removeFirst()
      }
      return undefined
    },
  }
}
