import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createAppendGroups } from '../../../../src/adapters/sqlite/append-groups.ts'
import type { AppendOutcome } from '../../../../src/adapters/sqlite/event-appends.ts'

/** A group commit that records its steps; an append named in `outcomes` has that outcome, any other position 1. */
function setUp({ outcomes = {}, failing }: { outcomes?: Record<string, AppendOutcome>; failing?: string } = {}) {
  const steps: string[] = []
  const step = (name: string) => {
    steps.push(name)
    if (name === failing) throw new Error(`${name} failed`)
  }
  const groups = createAppendGroups(
    {
      begin: () => step('begin'),
      append(packed) {
        step(packed)
        return outcomes[packed] === undefined ? 1 : outcomes[packed]
      },
      commit: () => step('commit'),
      rollBack: () => step('roll back'),
    },
    () => step('committed'),
  )
  return { steps, ...groups }
}

describe('groups of appends', () => {
  it('commits the appends of one turn together', async () => {
    const { steps, append } = setUp()
    expect(await Promise.all([append('a'), append('b')])).toEqual([1, 1])
    expect(steps).toEqual(['begin', 'a', 'b', 'commit', 'committed'])
  })

  it('takes the appends that arrive in the next turns into the open group', async () => {
    const { steps, append } = setUp()
    const first = append('a')
    await immediate()
    await Promise.all([first, append('b')])
    expect(steps).toEqual(['begin', 'a', 'b', 'commit', 'committed'])
  })

  it('commits a group after 16 turns, although appends go on arriving', async () => {
    const { steps, append } = setUp()
    const appends: Promise<unknown>[] = []
    for (let turn = 1; turn <= 17; turn += 1) {
      appends.push(append(String(turn)))
      await immediate()
    }
    await Promise.all(appends)
    const groups = steps.join(' ').split(' commit committed')
    expect(groups.map((group) => group.trim().split(' ').length - 1)).toEqual([16, 1, 0])
  })

  it('rejects an append that has an error of its own, and resolves the others', async () => {
    const { append } = setUp({ outcomes: { b: new Error('The event id 7 already exists.'), c: null } })
    const [a, b, c] = await Promise.allSettled([append('a'), append('b'), append('c')])
    expect([a, c]).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: null },
    ])
    expect(b).toMatchObject({ reason: { message: 'The event id 7 already exists.' } })
  })

  it.each(['begin', 'b', 'commit'])(
    'rejects every append of a group when %s fails, and begins a new one',
    async (failing) => {
      const { steps, append } = setUp({ failing })
      const results = await Promise.allSettled([append('a'), append('b')])
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(steps.at(-1)).toBe('roll back')
      append('c').catch(() => undefined)
      await immediate()
      expect(steps.filter((step) => step === 'begin')).toHaveLength(2)
    },
  )

  it('commits what waits at once when it is flushed', async () => {
    const { steps, append, flush } = setUp()
    const first = append('a')
    await immediate()
    const second = append('b')
    flush()
    expect(steps).toEqual(['begin', 'a', 'b', 'commit', 'committed'])
    expect(await Promise.all([first, second])).toEqual([1, 1])
    flush()
    expect(steps).toHaveLength(5)
  })
})
