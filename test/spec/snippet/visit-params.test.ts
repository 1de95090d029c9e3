import { expect, it, test } from 'vitest'
import { mergeParams } from '../../../src/snippet/visit-params.ts'

const paramsOf = (search: string, earlier?: Record<string, string>) => ({ ...mergeParams(search, earlier) })

it('takes every parameter of the query, decoded and trimmed', () => {
  expect(paramsOf('?utm_source=g&q=roof+repair&x=%20a%26b%20&empty=&bare')).toEqual({
    utm_source: 'g',
    q: 'roof repair',
    x: 'a&b',
    empty: '',
    bare: '',
  })
  expect(paramsOf('')).toEqual({})
})

it('writes names in lower case, and the first value of a name counts', () => {
  expect(paramsOf('?GCLID=1&gclid=2&GclId=3')).toEqual({ gclid: '1' })
})

it('adds earlier parameters that the page does not name', () => {
  expect(paramsOf('?b=2', { a: '1', b: '1', C: '3' })).toEqual({ b: '2', a: '1', c: '3' })
})

it('leaves out names that no pool can list', () => {
  expect(paramsOf(`?a[]=1&=2&a%20b=3&${'k'.repeat(65)}=4&${'k'.repeat(64)}=5&a.b-c_d=6`)).toEqual({
    ['k'.repeat(64)]: '5',
    'a.b-c_d': '6',
  })
})

test('names of what objects inherit are names like others', () => {
  const params = mergeParams('?__proto__=1&constructor=2&toString=3', JSON.parse('{"__proto__":"4"}'))
  expect(JSON.stringify(params)).toBe('{"__proto__":"1","constructor":"2","tostring":"3"}')
  expect(({} as { a?: string }).a).toBeUndefined()
})

it('sends at most 100 parameters of 256 characters', () => {
  const search = Array.from({ length: 150 }, (_, n) => `p${n}=${'v'.repeat(300)}`).join('&')
  const params = mergeParams(search, { late: '1' })
  expect(Object.keys(params)).toHaveLength(100)
  expect(new Set(Object.values(params).map(({ length }) => length))).toEqual(new Set([256]))
})

it('takes earlier values of other types as texts', () => {
  expect(paramsOf('', { n: 7, o: null } as never)).toEqual({ n: '7', o: 'null' })
})
