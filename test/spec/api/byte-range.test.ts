import { describe, expect, it } from 'vitest'
import { byteRangeOf } from '../../../src/api/byte-range.ts'

describe('a range of 100 bytes', () => {
  it.each([
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=0-', { first: 0, last: 99 }],
    ['bytes=10-19', { first: 10, last: 19 }],
    ['bytes=99-99', { first: 99, last: 99 }],
    ['bytes=90-1000', { first: 90, last: 99 }],
    ['bytes=-1', { first: 99, last: 99 }],
    ['bytes=-100', { first: 0, last: 99 }],
    ['bytes=-1000', { first: 0, last: 99 }],
    ['Bytes = 5 - 6 ', { first: 5, last: 6 }],
    ['bytes=  - 6', { first: 94, last: 99 }],
    ['bytes= 5 -  ', { first: 5, last: 99 }],
  ])('%s is a part', (header, part) => {
    expect(byteRangeOf(header, 100)).toEqual(part)
  })

  it.each([
    null,
    '',
    'bytes=',
    'bytes=-',
    'bytes=9-5',
    'bytes=0-1,5-6',
    'seconds=0-1',
    'bytes=a-b',
    'bytes=1-2-3',
    'bytes=  -  ',
    'bytes=1 2-3',
  ])('%s is the whole', (header) => {
    expect(byteRangeOf(header, 100)).toBe('whole')
  })

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=-0'])('%s is not there', (header) => {
    expect(byteRangeOf(header, 100)).toBeNull()
  })

  it('is not there in no bytes at all', () => {
    expect(byteRangeOf('bytes=0-', 0)).toBeNull()
    expect(byteRangeOf('bytes=-5', 0)).toBeNull()
  })
})
