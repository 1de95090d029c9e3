/** Slots for concurrent work. */
export interface Slots {
  /** Resolves once a slot is free, to what gives it back. */
  readonly take: () => Promise<() => void>
}

/** Creates slots; those who wait get them in order. */
export function createSlots(count: number): Slots {
  let free = count
  const waiting: (() => void)[] = []
  const giveBack = () => {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }
  const slot = () => {
    let isHeld = true
    return () => {
      if (isHeld) giveBack()
      isHeld = false
    }
  }
  return {
    take() {
      if (free > 0) {
        free -= 1
        return Promise.resolve(slot())
      }
      return new Promise((resolve) => {
        waiting.push(() => resolve(slot()))
      })
    },
  }
}
