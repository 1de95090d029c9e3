import { describe, expect, test } from 'vitest'
import { createCheckpointTracker } from '../../../../src/runtime/projections/checkpoint-tracker.ts'
import type { QueryRequest } from '../../../../src/runtime/queries/query-runner.ts'
import {
  createChangeCounters,
  createResponseCache,
  withResponseCache,
  withSingleFlight,
} from '../../../../src/runtime/queries/response-cache.ts'
import { createManualClock, flushEventLoop } from '../../../support/memory/clock.ts'

const NOON = Date.parse('2026-11-21T12:00:00.000Z')
const answers = (bytes = 100) => createResponseCache<string>(bytes, (answer) => answer.length)

describe('a kept answer', () => {
  test('is given again while its stamp is the same, and to the same question alone', () => {
    const kept = answers()
    kept.set('question', '1', NOON, 'answer')
    expect(kept.get('question', '1', NOON + 4_999)).toBe('answer')
    expect(kept.get('question', '2', NOON)).toBeNull()
    expect(kept.get('another', '1', NOON)).toBeNull()
  })

  test('lives five seconds, and never past a quarter of an hour', () => {
    const kept = answers()
    kept.set('question', '1', NOON, 'answer')
    expect(kept.get('question', '1', NOON + 5_000)).toBeNull()
    kept.set('late', '1', NOON - 1_000, 'answer')
    expect(kept.get('late', '1', NOON - 1)).toBe('answer')
    expect(kept.get('late', '1', NOON)).toBeNull()
  })

  test('makes room for newer ones when they fill what is kept', () => {
    const kept = answers(10)
    for (const key of ['a', 'b', 'c', 'd', 'e']) kept.set(key, '1', NOON, 'xxxxx')
    expect(kept.get('a', '1', NOON)).toBeNull()
    expect(kept.get('c', '1', NOON)).toBe('xxxxx')
    expect(kept.get('e', '1', NOON)).toBe('xxxxx')
  })
})

describe('moves', () => {
  test('change the stamp of the workspace and the projections that they concern, and of no other', () => {
    const moves = createChangeCounters()
    const before = { one: moves.cacheVersionOf(['buyers'], 'one'), other: moves.cacheVersionOf(['buyers'], 'other') }
    moves.recordChange('targets', ['one'])
    moves.recordChange('buyers', [])
    expect(moves.cacheVersionOf(['buyers'], 'one')).toBe(before.one)
    moves.recordChange('buyers', ['one'])
    expect(moves.cacheVersionOf(['buyers'], 'one')).not.toBe(before.one)
    expect(moves.cacheVersionOf(['buyers'], 'other')).toBe(before.other)
  })

  test('are counted by projection, where documents were written', () => {
    const moves = createChangeCounters()
    moves.recordChange('buyers', [])
    expect(moves.countOf('buyers')).toBe(0)
    moves.recordChange('buyers', ['one', 'other'])
    moves.recordChange('buyers', null)
    expect([moves.countOf('buyers'), moves.countOf('targets')]).toEqual([2, 0])
  })

  test('of no workspace in particular change all stamps', () => {
    const moves = createChangeCounters()
    const before = moves.cacheVersionOf(['buyers', 'targets'], 'one')
    moves.recordChange('targets', null)
    expect(moves.cacheVersionOf(['buyers', 'targets'], 'one')).not.toBe(before)
    expect(moves.cacheVersionOf(['buyers'], 'one')).toBe(createChangeCounters().cacheVersionOf(['buyers'], 'one'))
  })
})

const asked: QueryRequest = {
  name: 'totals',
  params: {},
  query: {},
  tenant: { workspaceId: 'one', timezone: 'UTC' },
  surface: 'rest',
  now: '2026-11-21T12:00:00.000Z',
  minPosition: null,
}

describe('a runner that keeps answers', () => {
  function rig(answers: (nth: number) => { readonly lag?: boolean } | Promise<object> = () => ({})) {
    let runs = 0
    const moves = createChangeCounters()
    const positions = createCheckpointTracker(createManualClock())
    const runner = withResponseCache(
      {
        async run() {
          runs += 1
          const bytes = new TextEncoder().encode(`${runs}`)
          return { bytes, position: 1, lag: false, revision: null, ...(await answers(runs)) }
        },
      },
      { cacheable: new Map([['totals', ['buyers']]]), positions, cacheVersionOf: moves.cacheVersionOf },
    )
    const given = async (more: Partial<QueryRequest> = {}) => {
      const answer = await runner.run({ ...asked, ...more })
      return 'bytes' in answer ? new TextDecoder().decode(answer.bytes) : answer
    }
    return { runner, given, moves, positions }
  }

  test('gives a steady answer again until what it reads has moved, and to the same question alone', async () => {
    const { given, moves } = rig()
    expect([await given(), await given()]).toEqual(['1', '1'])
    expect(await given({ tenant: { workspaceId: 'other', timezone: 'UTC' } })).toBe('2')
    expect(await given({ query: { page: 2 } })).toBe('3')
    moves.recordChange('targets', ['one'])
    expect(await given()).toBe('1')
    moves.recordChange('buyers', ['one'])
    expect([await given(), await given()]).toEqual(['4', '4'])
    expect([await given({ name: 'others' }), await given({ name: 'others' })]).toEqual(['5', '6'])
  })

  test('gives none again that was behind, nor one whose reads moved while it was made', async () => {
    const behind = rig((nth) => ({ lag: nth === 1 }))
    expect([await behind.given(), await behind.given(), await behind.given()]).toEqual(['1', '2', '2'])
    const moving: ReturnType<typeof rig> = rig(async (nth) => {
      if (nth === 1) moving.moves.recordChange('buyers', ['one'])
      return {}
    })
    expect([await moving.given(), await moving.given(), await moving.given()]).toEqual(['1', '2', '2'])
  })

  test('asks for whoever is to be shown what is not known to be read yet, and tells how far it has been since', async () => {
    const { runner, given, positions } = rig()
    positions.advance('buyers', 5)
    expect([await given(), await given({ minPosition: 5 }), await given({ minPosition: 6 })]).toEqual(['1', '1', '2'])
    positions.advance('buyers', 9)
    expect(await runner.run({ ...asked, minPosition: 6 })).toMatchObject({ position: 9 })
  })
})

describe('a runner that asks together', () => {
  test('asks once for all who ask the same in one turn, and anew for whoever comes after', async () => {
    const heard: QueryRequest[] = []
    const runner = withSingleFlight({
      async run(ask) {
        heard.push(ask)
        return { bytes: new Uint8Array([heard.length]), position: null, lag: false, revision: null }
      },
    })
    const ask = async (more: Partial<QueryRequest> = {}) => {
      const answer = await runner.run({ ...asked, ...more })
      return 'bytes' in answer && answer.bytes[0]
    }
    const event = { type: 'Begun' } as never
    const others = [ask({ now: '2026-11-21T12:00:00.001Z' }), ask({ events: [event] }), ask({ events: [event] })]
    expect(await Promise.all([ask(), ask(), ...others])).toEqual([4, 4, 1, 2, 3])
    await flushEventLoop(1)
    expect([await ask(), heard.length]).toEqual([5, 5])
  })
})
