/** Last four digits of a number of the simulated carrier, by what becomes of its order. Any other number is delivered at once. */
export const NUMBER_ENDINGS = {
  delayed: '0001',
  review: '0002',
  gone: '0003',
  failing: '0004',
  unconnected: '0005',
  unreachable: '0006',
  held: '0007',
} as const

/** Area codes whose search fails at the simulated carrier, by how it fails. */
export const SEARCH_AREA_CODES = { refused: '999', unanswered: '998' } as const
