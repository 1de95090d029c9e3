import { describe, expect, test } from 'vitest'
import { createMoves, keptAnswers } from '../../src/runtime/kept-answers.ts'

const NOON = Date.parse('2026-11-21T12:00:00.000Z')
const answers = (bytes = 100) => keptAnswers<string>(bytes, (answer) => answer.length)

describe('a kept answer', () => {
  test('is given again while its stamp is the same, and to the same question alone', () => {
    const kept = answers()
    kept.keep('question', '1', NOON, 'answer')
    expect(kept.of('question', '1', NOON + 4_999)).toBe('answer')
    expect(kept.of('question', '2', NOON)).toBeNull()
    expect(kept.of('another', '1', NOON)).toBeNull()
  })

  test('lives five seconds, and never past a quarter of an hour', () => {
    const kept = answers()
    kept.keep('question', '1', NOON, 'answer')
    expect(kept.of('question', '1', NOON + 5_000)).toBeNull()
    kept.keep('late', '1', NOON - 1_000, 'answer')
    expect(kept.of('late', '1', NOON - 1)).toBe('answer')
    expect(kept.of('late', '1', NOON)).toBeNull()
  })

  test('makes room for newer ones when they fill what is kept', () => {
    const kept = answers(10)
    for (const key of ['a', 'b', 'c', 'd', 'e']) kept.keep(key, '1', NOON, 'xxxxx')
    expect(kept.of('a', '1', NOON)).toBeNull()
    expect(kept.of('c', '1', NOON)).toBe('xxxxx')
    expect(kept.of('e', '1', NOON)).toBe('xxxxx')
  })
})

describe('moves', () => {
  test('change the stamp of the workspace and the projections that they concern, and of no other', () => {
    const moves = createMoves()
    const before = { one: moves.stampOf(['buyers'], 'one'), other: moves.stampOf(['buyers'], 'other') }
    moves.moved('targets', ['one'])
    moves.moved('buyers', [])
    expect(moves.stampOf(['buyers'], 'one')).toBe(before.one)
    moves.moved('buyers', ['one'])
    expect(moves.stampOf(['buyers'], 'one')).not.toBe(before.one)
    expect(moves.stampOf(['buyers'], 'other')).toBe(before.other)
  })

  test('are counted by projection, where documents were written', () => {
    const moves = createMoves()
    moves.moved('buyers', [])
    expect(moves.of('buyers')).toBe(0)
    moves.moved('buyers', ['one', 'other'])
    moves.moved('buyers', null)
    expect([moves.of('buyers'), moves.of('targets')]).toEqual([2, 0])
  })

  test('of no workspace in particular change all stamps', () => {
    const moves = createMoves()
    const before = moves.stampOf(['buyers', 'targets'], 'one')
    moves.moved('targets', null)
    expect(moves.stampOf(['buyers', 'targets'], 'one')).not.toBe(before)
    expect(moves.stampOf(['buyers'], 'one')).toBe(createMoves().stampOf(['buyers'], 'one'))
  })
})
