import { describe, expect, it } from 'vitest'
import type { TagFilter } from '../../../src/domain/demand/endpoint.ts'
import { checkTagFilters } from '../../../src/domain/routing/tag-filters.ts'
import { PROTO_KEY } from '../../../src/kernel/proto-key.ts'

const tags = {
  source: { value: 'search', source: 'publisher' },
  'utm.term': { value: 'roof repair', source: 'dni' },
  empty: { value: '', source: 'api' },
  [PROTO_KEY]: { value: 'own', source: 'publisher' },
}
const failed = (...filters: readonly TagFilter[]) => checkTagFilters('Target Desk', filters, tags)
const filter = (key: string, op: TagFilter['op'], value: TagFilter['value'] = null): TagFilter => ({ key, op, value })

describe('a tag filter', () => {
  it.each<[TagFilter['op'], TagFilter['value'], TagFilter['value'] | undefined]>([
    ['eq', 'search', 'Search'],
    ['neq', 'social', 'search'],
    ['in', ['social', 'search'], ['social']],
    ['nin', ['social'], ['social', 'search']],
    ['exists', null, undefined],
    ['prefix', 'sea', 'arch'],
  ])('%s compares a tag case-sensitively', (op, fits, differs) => {
    expect(failed(filter('source', op, fits))).toBeNull()
    if (differs !== undefined) expect(failed(filter('source', op, differs))).not.toBeNull()
  })

  it.each<[TagFilter['op'], TagFilter['value'], boolean]>([
    ['eq', 'search', false],
    ['neq', 'search', true],
    ['in', ['search'], false],
    ['nin', ['search'], true],
    ['exists', null, false],
    ['missing', null, true],
    ['prefix', '', false],
  ])('%s on a missing tag', (op, value, passes) => {
    expect(failed(filter('absent', op, value)) === null).toBe(passes)
    expect(failed(filter('toString', op, value)) === null).toBe(passes)
  })

  it('finds a tag called __proto__', () => {
    expect(failed(filter('__proto__', 'eq', 'own'))).toBeNull()
    expect(failed(filter('__proto__', 'missing'))?.figures).toMatchObject({ key: '__proto__', tag: 'own' })
  })

  it('treats an empty value as a present tag', () => {
    expect(failed(filter('empty', 'exists'), filter('empty', 'eq', ''), filter('empty', 'prefix', ''))).toBeNull()
    expect(failed(filter('empty', 'missing'))).not.toBeNull()
  })

  it('passes no tag by an empty list', () => {
    expect(failed(filter('source', 'in', []))).not.toBeNull()
    expect(failed(filter('source', 'nin', []))).toBeNull()
  })

  it('must pass together with all others; the first that fails is named', () => {
    const holds = filter('utm.term', 'prefix', 'roof')
    expect(failed(holds, filter('source', 'missing'), filter('source', 'eq', 'x'))).toEqual({
      sentence: 'Target Desk takes only calls whose tag source is not there.',
      figures: { key: 'source', op: 'missing', value: null, tag: 'search' },
    })
    expect(failed()).toBeNull()
  })

  it.each<[TagFilter['op'], TagFilter['value'], string]>([
    ['eq', 'a', 'is “a”'],
    ['neq', 'search', 'is not “search”'],
    ['in', ['a', 'b', 'c'], 'is one of “a”, “b”, “c”'],
    ['nin', ['search', 'a', 'b', 'c', 'd'], 'is none of “search”, “a”, “b”, 2 more'],
    ['prefix', 'x'.repeat(500), `begins with “${'x'.repeat(24)}…”`],
  ])('%s has a short sentence', (op, value, words) => {
    expect(failed(filter('source', op, value))?.sentence).toBe(
      `Target Desk takes only calls whose tag source ${words}.`,
    )
  })
})
