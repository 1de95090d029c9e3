import { describe, expect, it } from 'vitest'
import {
  ALL_PARTITIONS,
  coverAll,
  inRange,
  type PartitionRange,
  partitionOf,
  rangesOf,
  rangeText,
} from '../../../src/kernel/partition.ts'

describe('partitions', () => {
  it('a partition is the first byte of the SHA-256 of the id', () => {
    expect(partitionOf('')).toBe(0xe3)
    expect(partitionOf('abc')).toBe(0xba)
  })

  it('a partition is the same however many others were asked for since', () => {
    const ids = Array.from({ length: 10_001 }, (_, n) => `id-${n}`)
    const first = ids.map(partitionOf)
    expect(partitionOf('abc')).toBe(0xba)
    expect(ids.map(partitionOf)).toEqual(first)
  })

  it('the ranges of shards cover every partition once', () => {
    for (const shards of [1, 2, 4, 64, 256]) {
      const ranges = rangesOf(shards)
      expect(ranges).toHaveLength(shards)
      for (let partition = 0; partition < 256; partition++)
        expect(ranges.filter((range) => inRange(range, partition))).toHaveLength(1)
    }
    expect(rangesOf(1)).toEqual([ALL_PARTITIONS])
    expect(rangesOf(4).map(rangeText)).toEqual(['00-3f', '40-7f', '80-bf', 'c0-ff'])
  })

  it('ranges in any order cover every partition if they leave none out', () => {
    const [first, second, third, last] = rangesOf(4) as [PartitionRange, PartitionRange, PartitionRange, PartitionRange]
    expect(coverAll([ALL_PARTITIONS])).toBe(true)
    expect(coverAll([last, second, first, third])).toBe(true)
    expect(coverAll([first, ALL_PARTITIONS, second])).toBe(true)
    expect(coverAll([last, second, first])).toBe(false)
    expect(coverAll([second, third, last])).toBe(false)
    expect(coverAll([first, second, third])).toBe(false)
    expect(coverAll([])).toBe(false)
  })

  it.each([0, 3, -1, 1.5, 512])('%s shards are refused', (shards) => {
    expect(() => rangesOf(shards)).toThrow(RangeError)
  })
})
