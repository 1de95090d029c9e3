import { describe, expect, test } from 'vitest'
import { serverFilterOf } from '../../../../src/adapters/eventstoredb/server-filter.ts'
import { partitionText } from '../../../../src/kernel/partition.ts'
import { type LogFilter, matchesFilter } from '../../../../src/ports/log-filter.ts'

const KINDS = ['call', 'calls', 'ca', 'a.b', 'wallet', '$call', 'Call']
const TYPES = ['CallEnded', 'CallEndedLate', 'Ended', 'A|B', 'A', '$CallEnded', 'callEnded']
const partitions = Array.from({ length: 256 }, (_, n) => partitionText(n))
const streams = [
  ...KINDS.flatMap((kind) => [...partitions.map((partition) => `${kind}-${partition}-x`), `${kind}-x`, `${kind}-0a`]),
  ...['call-0A-x', 'call-0a0-x', 'call--0a-x', 'x-call-0a-1', 'call'],
]

/** Events that the server would send, by the expression alone. */
function sent(filter: LogFilter): (event: { readonly stream: string; readonly type: string }) => boolean {
  const { on, regex } = serverFilterOf(filter)
  const expression = new RegExp(regex)
  return (event) => expression.test(event[on])
}

const range = (from: number, to: number) => ({ from, to })

describe('the filter that the server gets', () => {
  test.each<[string, LogFilter]>([
    ['one partition', { partitions: range(0x4c, 0x4c) }],
    ['a quarter', { partitions: range(0x40, 0x7f) }],
    ['parts of first digits', { partitions: range(0x1e, 0x83) }],
    ['a part of one first digit', { partitions: range(0xa2, 0xa9) }],
    ['every partition', { partitions: range(0, 255) }],
    ['kinds', { kinds: new Set(['call', 'a.b']) }],
    ['kinds in partitions', { kinds: new Set(['call', 'a.b']), partitions: range(0x0f, 0x10) }],
    ['no kind', { kinds: new Set<string>() }],
  ])('has exactly the streams of %s', (_name, filter) => {
    const isSent = sent(filter)
    for (const stream of streams.filter((name) => !name.startsWith('$'))) {
      const event = { stream, type: 'CallEnded' }
      expect([stream, isSent(event)]).toEqual([stream, matchesFilter(filter, event)])
    }
  })

  test.each([[['CallEnded', 'A|B']], [['CallEnded']], [[]]])('has exactly the types %j', (types) => {
    const filter = { types: new Set(types) }
    const isSent = sent(filter)
    for (const type of TYPES) {
      const event = { stream: 'call-0a-x', type }
      expect([type, isSent(event)]).toEqual([type, matchesFilter(filter, event)])
    }
  })

  test('without criteria has all but the events of the server', () => {
    expect(TYPES.filter((type) => !sent({})({ stream: 'call-0a-x', type }))).toEqual(['$CallEnded'])
  })

  test('goes by the criterion that is likely to leave less', () => {
    const some = new Set(['CallEnded', 'A'])
    const many = new Set(Array.from({ length: 60 }, (_, n) => `Type${n}`))
    expect(serverFilterOf({ types: some, partitions: range(0, 127) }).on).toBe('type')
    expect(serverFilterOf({ types: some, partitions: range(0, 1) }).on).toBe('stream')
    expect(serverFilterOf({ types: many, partitions: range(0, 127) }).on).toBe('stream')
    expect(serverFilterOf({ types: many, partitions: range(0, 255) }).on).toBe('type')
    expect(serverFilterOf({ types: many, kinds: new Set(['call']) }).on).toBe('stream')
  })
})
