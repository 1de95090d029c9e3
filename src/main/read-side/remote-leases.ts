import type { Remote } from '../../kernel/async/thread-rpc.ts'
import type { LeaseOps } from '../../runtime/ownership/leases.ts'

type Arguments<Method extends keyof LeaseOps> = Parameters<LeaseOps[Method]>

/** Thread handlers of what ownership needs of the operational store: each takes the parameters of the method as one list. */
export function leaseHandlers(ops: LeaseOps) {
  return {
    list: (parameters: Arguments<'list'>) => ops.list(...parameters),
    put: (parameters: Arguments<'put'>) => ops.put(...parameters),
    putIf: (parameters: Arguments<'putIf'>) => ops.putIf(...parameters),
    delete: (parameters: Arguments<'delete'>) => ops.delete(...parameters),
  }
}

export type LeaseHandlers = ReturnType<typeof leaseHandlers>

/** The same of another thread that serves `leaseHandlers`. */
export function remoteLeases(calls: Remote<LeaseHandlers>): LeaseOps {
  return {
    list: (...parameters) => calls.list(parameters),
    put: (...parameters) => calls.put(parameters),
    putIf: (...parameters) => calls.putIf(parameters),
    delete: (...parameters) => calls.delete(parameters),
  }
}
