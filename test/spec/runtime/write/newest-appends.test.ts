import { describe, expect, test } from 'vitest'
import { START } from '../../../../src/ports/event-log.ts'
import { withNewestAppends } from '../../../../src/runtime/write/newest-appends.ts'
import { someEvent } from '../../../support/fixtures/events.ts'
import { createMemoryLog } from '../../../support/memory/event-log.ts'

describe('the newest appends', () => {
  test('are those of this process, by type, at the position of their append', async () => {
    const shared = createMemoryLog()
    const { log, newestOf } = withNewestAppends(shared)
    const [apple, pear] = [() => someEvent({}, 'AppleFell'), () => someEvent({}, 'PearFell')]
    expect(newestOf(['AppleFell'])).toBe(START)
    await log.append('tree-00-a', -1, [apple(), pear()])
    const both = await log.head()
    await log.append('tree-00-a', 1, [pear()])
    const last = await log.head()
    await shared.append('tree-00-a', 2, [apple()])
    expect(await log.append('tree-00-a', 0, [apple()])).toEqual({ ok: false, conflict: true })
    expect([newestOf(['AppleFell']), newestOf(['PearFell'])]).toEqual([both, last])
    expect([newestOf(['AppleFell', 'PearFell']), newestOf(['LeafFell'])]).toEqual([last, START])
  })

  test('are also those that another process made for this one', async () => {
    const { log, newestOf, add } = withNewestAppends(createMemoryLog())
    await log.append('tree-00-a', -1, [someEvent({}, 'AppleFell')])
    const own = await log.head()
    add([{ type: 'AppleFell' }, { type: 'PearFell' }], own - 1)
    expect([newestOf(['AppleFell']), newestOf(['PearFell'])]).toEqual([own, own - 1])
    add([{ type: 'AppleFell' }], own + 1)
    expect(newestOf(['AppleFell', 'PearFell'])).toBe(own + 1)
  })
})
