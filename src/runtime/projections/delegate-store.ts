import type { ReadStore } from '../../ports/read-store.ts'

/** A store's methods as a record, for decorators that override some of them. */
export function delegate(store: ReadStore): ReadStore {
  return {
    atomic: store.atomic,
    ensure: (specs) => store.ensure(specs),
    get: (collection, id) => store.get(collection, id),
    getMany: (collection, ids) => store.getMany(collection, ids),
    find: (collection, page) => store.find(collection, page),
    pluck: (collection, path, page) => store.pluck(collection, path, page),
    count: (collection, filter) => store.count(collection, filter),
    sum: (collection, filter, groupBy, fields) => store.sum(collection, filter, groupBy, fields),
    commit: (writes, checkpoint) => store.commit(writes, checkpoint),
    checkpoint: (name) => store.checkpoint(name),
    checkpoints: () => store.checkpoints(),
    drop: (collection, checkpoint) => store.drop(collection, checkpoint),
    collections: () => store.collections(),
    close: () => store.close(),
  }
}
