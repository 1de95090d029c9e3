import { describe, expect, it } from 'vitest'
import { defineEntity, parseStreamName, possibleStreamsOf, streamOf } from '../../../src/kernel/entity.ts'

// The first bytes of the SHA-256: abc ba, all 5e.
const call = { name: 'call', partitionedBy: 'workspace' } as const
const workspace = { name: 'workspace', partitionedBy: 'id' } as const

describe('stream names', () => {
  it('carry the partition of the id', () => {
    expect(streamOf(workspace, 'abc')).toBe('workspace-ba-abc')
    expect(streamOf(workspace, 'abc', 'all')).toBe('workspace-ba-abc')
    expect(streamOf({ name: 'platform' }, 'all')).toBe('platform-5e-all')
  })

  it('carry the partition of the workspace where it is not the id', () => {
    expect(streamOf(call, 'all', 'abc')).toBe('call-ba-all')
  })

  it('need the workspace there', () => {
    expect(() => streamOf(call, 'all')).toThrow('The workspace of call all is not known.')
    expect(() => streamOf(call, 'all', '')).toThrow('The workspace of call all is not known.')
  })

  it('are parsed into category, partition and id', () => {
    expect(parseStreamName('call-0f-0199-all')).toEqual({ category: 'call', partition: 15, id: '0199-all' })
    expect(parseStreamName('workspace-ba-abc')).toEqual({ category: 'workspace', partition: 0xba, id: 'abc' })
  })

  it('have no kind with a dash, which would end it', () => {
    const kind = (name: string) => defineEntity({ name, events: {}, version: 1, initial: null, evolve: {} })
    expect(() => kind('bank-account')).toThrow('The name of a kind of stream has no dash: bank-account.')
    expect(kind('account').name).toBe('account')
  })

  it('are one of 256 where only the id is known', () => {
    expect(possibleStreamsOf(workspace, 'abc')).toEqual(['workspace-ba-abc'])
    const names = possibleStreamsOf(call, 'all')
    expect(new Set(names).size).toBe(256)
    expect([names[0], names[0xba], names[255]]).toEqual(['call-00-all', 'call-ba-all', 'call-ff-all'])
  })
})
