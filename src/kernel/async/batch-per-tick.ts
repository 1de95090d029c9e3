interface Pending<Work, Result> {
  readonly work: Work
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Collects the items of one event-loop turn and hands them over together at its end. With `maxItems`, a full batch is
 * handed over at once.
 */
export function collectPerTick<Item>(
  handOver: (items: readonly Item[]) => void,
  maxItems = Number.POSITIVE_INFINITY,
): (item: Item) => void {
  let collected: Item[] = []
  const flush = () => {
    if (collected.length === 0) return
    const items = collected
    collected = []
    handOver(items)
  }
  return (item) => {
    if (collected.push(item) === 1) setImmediate(flush)
    else if (collected.length === maxItems) flush()
  }
}

/** Collects the items of two event-loop turns, the one in which the first comes and the next, and hands them over together. */
export function collectTwoTicks<Item>(handOver: (items: readonly Item[]) => void): (item: Item) => void {
  let collected: Item[] = []
  const flush = () => {
    const items = collected
    collected = []
    handOver(items)
  }
  return (item) => {
    if (collected.push(item) === 1) setImmediate(() => setImmediate(flush))
  }
}

/**
 * Runs the work of one event-loop turn in one call of `runAll`, which returns the results in the order of the work. When
 * a batch throws, each work runs alone, so that one faulty work does not fail the others.
 */
export function batched<Work, Result>(
  runAll: (works: readonly Work[]) => readonly Result[],
): (work: Work) => Promise<Result> {
  const run = (batch: readonly Pending<Work, Result>[]): void => {
    try {
      const results = runAll(batch.map(({ work }) => work))
      for (const [n, result] of results.entries()) batch[n]?.resolve(result)
    } catch (error) {
      if (batch.length > 1) for (const one of batch) run([one])
      else batch[0]?.reject(error)
    }
  }
  const collect = collectPerTick(run)
  return (work) => new Promise((resolve, reject) => collect({ work, resolve, reject }))
}

/**
 * Runs the work of one event-loop turn in one call of `runAll`, which returns the results in the order of the work. When it fails,
 * all works of the turn reject: an unavailable store fails each of them alike.
 */
export function groupPerTick<Work, Result>(
  runAll: (works: readonly Work[]) => readonly Result[] | Promise<readonly Result[]>,
): (work: Work) => Promise<Result> {
  const run = async (group: readonly Pending<Work, Result>[]): Promise<void> => {
    try {
      const results = await runAll(group.map(({ work }) => work))
      for (const [n, result] of results.entries()) group[n]?.resolve(result)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
  const collect = collectPerTick<Pending<Work, Result>>((group) => void run(group))
  return (work) => new Promise((resolve, reject) => collect({ work, resolve, reject }))
}
