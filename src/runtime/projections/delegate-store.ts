import type { ReadStore } from '../../ports/read-store.ts'

/** A store's methods as a record, for decorators that override some of them. */
export function delegate(store: ReadStore): ReadStore {
  return {
    atomic: store.atomic,
    ensure: (specs) => store.ensure(specs),
    missingIndexes: (specs) => store.missingIndexes(specs),
    get: (collection, id, now) => store.get(collection, id, now),
    getMany: (collection, ids, now) => store.getMany(collection, ids, now),
    find: (collection, page) => store.find(collection, page),
    findDerived: (collection, page, derivation) => store.findDerived(collection, page, derivation),
    pluck: (collection, path, page) => store.pluck(collection, path, page),
    select: (collection, paths, page) => store.select(collection, paths, page),
    count: (collection, filter, now) => store.count(collection, filter, now),
    sum: (collection, filter, groupBy, fields, now) => store.sum(collection, filter, groupBy, fields, now),
    sumRows: (collection, question) => store.sumRows(collection, question),
    commit: (writes, checkpoint) => store.commit(writes, checkpoint),
    deleteExpired: (collection, now) => store.deleteExpired(collection, now),
    checkpoint: (name) => store.checkpoint(name),
    checkpoints: (prefix) => store.checkpoints(prefix),
    drop: (collection, checkpoint) => store.drop(collection, checkpoint),
    collections: () => store.collections(),
    close: () => store.close(),
  }
}
