/** One piece of work that waits for its turn. */
interface Waiting<Work, Outcome> {
  readonly work: Work
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Does what one turn of the event loop gathers together. Where that fails, each is done by itself, so that none pays for
 * another's fault.
 */
export function batched<Work, Outcome>(
  doAll: (works: readonly Work[]) => readonly Outcome[],
): (work: Work) => Promise<Outcome> {
  let gathered: Waiting<Work, Outcome>[] = []

  const settle = (waiting: readonly Waiting<Work, Outcome>[]): void => {
    try {
      const outcomes = doAll(waiting.map(({ work }) => work))
      for (const [n, outcome] of outcomes.entries()) waiting[n]?.resolve(outcome)
    } catch (error) {
      if (waiting.length > 1) for (const one of waiting) settle([one])
      else waiting[0]?.reject(error)
    }
  }
  return (work) =>
    new Promise((resolve, reject) => {
      if (gathered.push({ work, resolve, reject }) > 1) return
      setImmediate(() => {
        const waiting = gathered
        gathered = []
        settle(waiting)
      })
    })
}
