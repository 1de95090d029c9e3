import { collectionOf, type Projection } from '../../src/kernel/projection.ts'

/** What `src/runtime/columns` keeps of a projection with numbered rows, so that no sum over them reads documents. */
export function columnSpecOf(
  projection: Pick<Projection, 'name' | 'version'>,
  {
    time,
    summed,
    grouped,
  }: {
    /** Path of the instant (ms) of a row. */
    readonly time: string
    readonly summed: readonly string[]
    readonly grouped: readonly string[]
  },
) {
  return {
    collection: collectionOf(projection),
    key: 'seq',
    time,
    removes: false,
    columns: {
      ...Object.fromEntries(summed.map((path) => [path, 'number'] as const)),
      ...Object.fromEntries(grouped.map((path) => [path, 'code'] as const)),
    },
  } as const
}
