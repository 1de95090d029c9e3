import { describe, expect, it } from 'vitest'
import { tagCall } from '../../../commands/calls/tag-call.ts'
import { callLog } from '../../../projections/calls/call-log.ts'
import { call } from '../../../src/domain/calls/call.ts'
import { tagsOf, tagValue } from '../../../src/domain/calls/tags.ts'
import { TAG } from '../../../src/domain/shared/limits.ts'
import type { NewEvent } from '../../../src/kernel/event.ts'
import { escapeKey } from '../../../src/kernel/proto-key.ts'
import {
  callEventsOf,
  callStateOf,
  callWorld,
  instantAfter,
  noticeSteps,
  nthCallId,
  routeArrival,
} from '../../support/fixtures/call-world.ts'
import { project } from '../../support/fixtures/project.ts'
import { BY_KEY, given, recordedEvents } from '../../support/fixtures/spec.ts'

const callId = nthCallId(1)
const live = callEventsOf(routeArrival(callWorld()), noticeSteps.answer(1, 4))
const tag = (events: readonly NewEvent[], tags: object, more: object = BY_KEY) =>
  given(call, events).when(tagCall, { callId, tags }, { at: instantAfter(100), ...more })
const changesOf = (tags: object, events = live) => {
  const { events: all } = tag(events, tags)
  const { tags: stored } = callStateOf(all)
  return Object.fromEntries(stored)
}
const many = (count: number, from = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${from + n}`, n]))
/** Tags of every call in these specs at its arrival. */
const observed = callStateOf(live).tags.size

describe('tag-call', () => {
  it('sets texts, numbers and booleans as text, removes by null, and records each change', () => {
    const tagged = tag(live, { color: 'red', size: 4.5, vip: true, callerState: null })
    tagged.gives([
      {
        type: 'CallTagged',
        data: {
          ref: 'CA-0000000001',
          occurredAt: instantAfter(100),
          source: 'api',
          changes: [
            { key: 'color', before: null, after: 'red' },
            { key: 'size', before: null, after: '4.5' },
            { key: 'vip', before: null, after: 'true' },
            { key: 'callerState', before: 'CA', after: null },
          ],
        },
      },
    ])
    tag(tagged.events, { color: 'blue', size: 4.5, gone: null }, {}).gives([
      { type: 'CallTagged', data: { source: 'user', changes: [{ key: 'color', before: 'red', after: 'blue' }] } },
    ])
  })

  it('changes nothing when the tags have the values already', () => {
    const tagged = tag(live, { color: 'red', size: 4 })
    tag(tagged.events, { color: 'red', size: '4', other: null }).gives([])
  })

  it('treats names of inherited properties as plain tag keys', () => {
    const stored = Object.entries(changesOf({ constructor: 'x', toString: 'y' }))
    expect(stored).toEqual(
      expect.arrayContaining([
        ['constructor', 'x'],
        ['toString', 'y'],
      ]),
    )
    tag(live, { hasOwnProperty: null, valueOf: null }).gives([])
  })

  it('records __proto__ as it is, and the call log keeps it where its schema is parsed', async () => {
    const tagged = tag(live, { [escapeKey('__proto__')]: 'x' })
    tagged.gives([{ type: 'CallTagged', data: { changes: [{ key: '__proto__', before: null, after: 'x' }] } }])
    const rows = await project(callLog, recordedEvents(call, tagged.events))
    const { tags, tagSources } = callLog.doc.parse(rows[callId])
    expect(Object.entries(tagsOf(tags))).toContainEqual(['__proto__', 'x'])
    expect(Object.entries(tagsOf(tagSources))).toContainEqual(['__proto__', 'api'])
  })

  it('truncates long values without splitting a character', () => {
    expect(tagValue('x'.repeat(TAG.value))).toHaveLength(TAG.value)
    expect(tagValue('x'.repeat(TAG.value + 1))).toHaveLength(TAG.value)
    expect(tagValue('😀'.repeat(TAG.value))).toBe('😀'.repeat(TAG.value))
    expect(tagValue('😀'.repeat(TAG.value + 1))).toBe('😀'.repeat(TAG.value))
    expect(tagValue(`${'x'.repeat(TAG.value - 1)}😀x`)).toBe(`${'x'.repeat(TAG.value - 1)}😀`)
    expect(tagValue('half \ud83d sign')).toBe('half � sign')
    expect([tagValue(-0), tagValue(false), tagValue(1e21), tagValue('')]).toEqual(['0', 'false', '1e+21', ''])
  })

  it('accepts forty keys in one request', () => {
    expect(Object.keys(changesOf(many(TAG.request)))).toHaveLength(observed + TAG.request)
    tag(live, many(TAG.request + 1)).gives({ refused: 'bad-request', details: { tags: expect.stringContaining('40') } })
    tag(live, { ...many(TAG.request), gone: null }).gives({ refused: 'bad-request' })
  })

  it('allows eighty tags on a call, observed ones included', () => {
    const first = tag(live, many(40)).events
    const room = TAG.call - observed - 40
    const full = tag(first, many(room, 40)).events
    expect(callStateOf(full).tags.size).toBe(TAG.call)
    tag(first, many(room + 1, 40)).gives({ refused: 'bad-request', details: { tags: expect.stringContaining('80') } })
    tag(full, { more: 1 }).gives({ refused: 'bad-request' })
    tag(full, { k0: 'other' }).gives([{ type: 'CallTagged' }])
    tag(full, { more: 1, k0: null }).gives([{ type: 'CallTagged' }])
  })

  it('is refused without tags, and for an unknown call', () => {
    tag(live, {}).gives({ refused: 'bad-request' })
    tag([], { a: 1 }).gives({ refused: 'call-not-found' })
    tag(live, { a: 1 }, { workspaceId: nthCallId(9) }).gives({ refused: 'call-not-found' })
  })

  it.each(['', 'a b', 'ü', 'a/b', '$a', 'x'.repeat(TAG.key + 1)])('refuses the key %j', (key) => {
    expect(tagCall.input.safeParse({ callId, tags: { [key]: 'x' } }).success).toBe(false)
  })

  it.each(['a', 'A.b-c_9', '.', 'x'.repeat(TAG.key)])('accepts the key %j', (key) => {
    expect(changesOf({ [key]: 'x' })).toMatchObject({ [key]: 'x' })
  })

  it.each([[{}], [[]], [undefined], [Number.NaN], [Number.POSITIVE_INFINITY]])('refuses the value %j', (value) => {
    expect(tagCall.input.safeParse({ callId, tags: { a: value } }).success).toBe(false)
  })
})
