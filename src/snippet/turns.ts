type Work = () => Promise<void>

/**
 * Runs one work at a time. Who asks while one runs shares the next.
 * @param foremost what the next is as soon as anyone asks for it; else it is what was asked for last
 */
export function createTurns(foremost: Work): (work: Work) => Promise<void> {
  let turn = Promise.resolve()
  let waiting: Work | null = null

  function run(): Promise<void> | undefined {
    const work = waiting
    waiting = null
    return work?.()
  }
  return (work) => {
    if (!waiting) turn = turn.then(run).catch(() => undefined)
    if (waiting !== foremost) waiting = work
    return turn
  }
}
