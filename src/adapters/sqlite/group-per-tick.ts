import { collectPerTick } from '../../kernel/async/batch-per-tick.ts'

interface GroupedCall<Call> {
  readonly call: Call
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs the calls of one event-loop turn in one call of `runAll`, which returns their results in order. When it throws, all
 * calls of the group reject: an unavailable file fails each of them alike.
 */
export function groupPerTick<Call>(
  runAll: (calls: readonly Call[]) => readonly unknown[],
): (call: Call) => Promise<unknown> {
  const collect = collectPerTick<GroupedCall<Call>>((group) => {
    try {
      const results = runAll(group.map(({ call }) => call))
      for (const [n, { resolve }] of group.entries()) resolve(results[n])
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  })
  return (call) => new Promise((resolve, reject) => collect({ call, resolve, reject }))
}
