/**
 * A fault of one call. `fail` throws and does nothing, `lose` does the work and throws instead of answering, `vanish`
 * does it and never answers. A promise delays the call until it resolves, to one of these or to nothing.
 */
export type Fault = 'fail' | 'lose' | 'vanish' | Promise<unknown>

/** Decides on the n-th call (1, 2, …) of a method; undefined means no fault. */
export type FaultPlan = (method: string, nth: number) => Fault | undefined

/** Decorates a port with faults. `unavailable` creates the error that a failed or lost call throws. */
export function withFaults<Port extends object>(port: Port, unavailable: () => Error, interfere: FaultPlan): Port {
  const calls = new Map<string, number>()
  return new Proxy(port, {
    get(target, key) {
      const method = Reflect.get(target, key)
      if (typeof method !== 'function' || typeof key !== 'string' || key === 'follow' || key === 'close') return method
      return async (...args: unknown[]) => {
        const nth = (calls.get(key) ?? 0) + 1
        calls.set(key, nth)
        const given = interfere(key, nth)
        const fault = given instanceof Promise ? await given : given
        if (fault === 'fail') throw unavailable()
        const answer = await Reflect.apply(method, target, args)
        if (fault === 'lose') throw unavailable()
        if (fault === 'vanish') await new Promise(() => undefined)
        return answer
      }
    },
  })
}
