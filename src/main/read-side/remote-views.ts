import type { Remote } from '../../kernel/async/thread-rpc.ts'
import type { ReadStore } from '../../ports/read-store.ts'

/** Reads of the read store; it writes nothing. */
export type Views = Pick<
  ReadStore,
  'get' | 'getMany' | 'find' | 'pluck' | 'count' | 'sum' | 'checkpoint' | 'checkpoints'
>

type Arguments<Method extends keyof Views> = Parameters<Views[Method]>

/** Thread handlers of the reads: each takes the parameters of the method as one list. */
export function viewHandlers(views: Views) {
  return {
    get: (parameters: Arguments<'get'>) => views.get(...parameters),
    getMany: (parameters: Arguments<'getMany'>) => views.getMany(...parameters),
    find: (parameters: Arguments<'find'>) => views.find(...parameters),
    pluck: (parameters: Arguments<'pluck'>) => views.pluck(...parameters),
    count: (parameters: Arguments<'count'>) => views.count(...parameters),
    sum: (parameters: Arguments<'sum'>) => views.sum(...parameters),
    checkpoint: (parameters: Arguments<'checkpoint'>) => views.checkpoint(...parameters),
    checkpoints: (parameters: Arguments<'checkpoints'>) => views.checkpoints(...parameters),
  }
}

/** The reads of another thread that serves `viewHandlers`. */
export function remoteViews(calls: Remote<ReturnType<typeof viewHandlers>>): Views {
  return {
    get: (...parameters) => calls.get(parameters),
    getMany: (...parameters) => calls.getMany(parameters),
    find: (...parameters) => calls.find(parameters),
    pluck: (...parameters) => calls.pluck(parameters),
    count: (...parameters) => calls.count(parameters),
    sum: (...parameters) => calls.sum(parameters),
    checkpoint: (...parameters) => calls.checkpoint(parameters),
    checkpoints: (...parameters) => calls.checkpoints(parameters),
  }
}
