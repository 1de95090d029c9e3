import fc from 'fast-check'
import { Map as PersistentMap, Set as PersistentSet } from 'immutable'
import { describe, expect, it } from 'vitest'
import { ledger } from '../../../../src/domain/routing/ledger.ts'
import { decodeState, encodeState } from '../../../../src/runtime/write/state-codec.ts'
import { callWorld, routeArrival } from '../../../support/fixtures/call-world.ts'

const plain = fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)))
const { state } = fc.letrec<{ state: unknown }>((tie) => ({
  state: fc.oneof(
    { maxDepth: 4 },
    plain,
    fc.array(fc.tuple(fc.string(), tie('state')), { maxLength: 10 }).map((entries) => PersistentMap(entries)),
    fc.array(fc.string(), { maxLength: 10 }).map((values) => PersistentSet(values)),
    fc.array(tie('state'), { maxLength: 3 }),
    fc.dictionary(
      fc.string().filter((key) => !key.startsWith('$') && key !== '__proto__'),
      tie('state'),
      { maxKeys: 4 },
    ),
  ),
}))

describe('a state', () => {
  it('is plain JSON when encoded, and equal to the original when decoded', () => {
    fc.assert(
      fc.property(state, (state) => {
        const stored: unknown = JSON.parse(JSON.stringify(encodeState(state)))
        expect(decodeState(stored)).toEqual(state)
      }),
    )
  })

  it('keeps nested maps and sets', () => {
    const nested = {
      maps: PersistentMap([['a', PersistentMap([['b', { c: PersistentSet(['d']) }]])]]),
      list: [PersistentSet([1]), null, 'text'],
      none: PersistentMap(),
    }
    expect(decodeState(JSON.parse(JSON.stringify(encodeState(nested))))).toEqual(nested)
  })

  it('of a ledger is equal after encoding and decoding', () => {
    const { state } = routeArrival(callWorld())
    const again = decodeState(JSON.parse(JSON.stringify(encodeState(state))))
    expect(again).toEqual(state)
    expect(encodeState(again)).toEqual(encodeState(state))
    expect(again).not.toEqual(ledger.initial)
  })
})
