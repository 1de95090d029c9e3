import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { areaCodeOf, stateOf } from '../../../src/domain/shared/nanp.ts'

describe('the state of a caller', () => {
  it.each([
    ['+14155550100', '415', 'CA'],
    ['+12125550100', '212', 'NY'],
    ['+12025550100', '202', 'DC'],
    ['+17875550100', '787', 'PR'],
    ['+19075550100', '907', 'AK'],
  ])('%s is called from %s, %s', (number, code, state) => {
    expect([areaCodeOf(number), stateOf(number)]).toEqual([code, state])
  })

  it('is null for a hidden, foreign, toll-free or Canadian number, and for other text', () => {
    for (const number of [
      null,
      '+442071838750',
      '+18005550100',
      '+14165550100',
      '+1415555',
      '+11155550100',
      '+14151550100',
    ])
      expect(stateOf(number), String(number)).toBeNull()
    expect(areaCodeOf('+18005550100')).toBe('800')
    expect(areaCodeOf('+442071838750')).toBeNull()
  })

  it('lists each area code for one state only', () => {
    const source = readFileSync(new URL('../../../src/domain/shared/nanp.ts', import.meta.url), 'utf8')
    const rows = [...source.matchAll(/^ {2}([A-Z]{2}): '([\d ]+)',$/gm)].map(([, state, codes]) => ({ state, codes }))
    const all = rows.flatMap(({ codes }) => (codes ?? '').split(' '))
    expect(new Set(all).size).toBe(all.length)
    expect(new Set(rows.map(({ state }) => state)).size).toBe(56)
    for (const { state, codes } of rows)
      for (const code of (codes ?? '').split(' ')) expect(stateOf(`+1${code}5550100`)).toBe(state)
  })
})
