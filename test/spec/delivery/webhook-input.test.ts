import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { WEBHOOK_EVENT_NAMES } from '../../../src/domain/delivery/webhook-events.ts'
import {
  eventPatternInput,
  patternProblem,
  webhookHeaders,
  webhookUrl,
} from '../../../src/domain/delivery/webhook-input.ts'
import { WEBHOOK } from '../../../src/domain/shared/limits.ts'

const BASE = 'https://a.example/'
const urlOf = (length: number) => BASE.padEnd(length, 'a')
const headersOf = (count: number, value: string | null = '1') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, value]))

describe('a URL in a request', () => {
  test.each([
    ['https', BASE, true],
    ['http', 'http://a.example', true],
    ['upper-case', 'HTTPS://a.example', true],
    ['with macros', `${BASE}{{call.ref}}?t={{tag.a}}`, true],
    ['as long as it may be', urlOf(WEBHOOK.url), true],
    ['one character too long', urlOf(WEBHOOK.url + 1), false],
    ['empty', '', false],
    ['of another scheme', 'ftp://a.example', false],
    ['without slashes', 'https:a.example', false],
    ['with a space', `${BASE}a b`, false],
    ['with a space before it', ` ${BASE}`, false],
    ['with a line break at its end', `${BASE}\n`, false],
    ['with a tab in its host', 'https://a.ex\tample/', false],
    ['with a wide space', `${BASE}\u00a0`, false],
    ['with a control character', `${BASE}\u0000`, false],
    ['with a C1 control character', `${BASE}\u0085`, false],
    ['that is no text', 1, false],
  ])('%s is valid: %3$s', (_what, url, isValid) => {
    expect(webhookUrl.safeParse(url).success).toBe(isValid)
  })
})

describe('headers in a request', () => {
  it('are those that are not null', () => {
    expect(webhookHeaders.parse({ 'X-A': 'é {{call.ref}}', 'x-b': null, 'x-c': '' })).toEqual({
      'X-A': 'é {{call.ref}}',
      'x-c': '',
    })
  })

  test.each([
    ['none', {}, true],
    ['as many as there may be', headersOf(WEBHOOK.headers), true],
    ['one too many', headersOf(WEBHOOK.headers + 1), false],
    ['one too many, all null', headersOf(WEBHOOK.headers + 1, null), false],
    ['a value as long as it may be', { a: 'x'.repeat(WEBHOOK.header) }, true],
    ['a value one character too long', { a: 'x'.repeat(WEBHOOK.header + 1) }, false],
    ['a line break', { a: '1\n' }, false],
    ['a character beyond Latin-1', { a: '🙂' }, false],
    ['a name with a space', { 'a b': '1' }, false],
    ['an empty name', { '': '1' }, false],
    ['a number', { a: 1 }, false],
    ['a list', ['a'], false],
  ])('with %s are valid: %3$s', (_what, headers, isValid) => {
    expect(webhookHeaders.safeParse(headers).success).toBe(isValid)
  })
})

describe('a pattern in a request', () => {
  test.each([
    ['call.routed', ['call.routed']],
    [['call.routed'], ['call.routed']],
    [
      ['call.routed', 'call.incoming', 'call.routed'],
      ['call.routed', 'call.incoming'],
    ],
    ['*', ['*']],
    [['*'], ['*']],
    [['call.routed', '*'], ['*']],
    [['nope'], ['nope']],
    [[...WEBHOOK_EVENT_NAMES], [...WEBHOOK_EVENT_NAMES]],
    [Array(WEBHOOK.events).fill('call.routed'), ['call.routed']],
  ])('%j is read as %j', (sent, pattern) => {
    expect(eventPatternInput.parse(sent)).toEqual(pattern)
  })

  test.each([
    ['no name', []],
    ['one name too many', Array(WEBHOOK.events + 1).fill('call.routed')],
    ['a number', [1]],
    ['null', null],
    ['an object', {}],
  ])('with %s is refused', (_what, sent) => {
    expect(eventPatternInput.safeParse(sent).success).toBe(false)
  })

  test.each([
    [['*'], null],
    [WEBHOOK_EVENT_NAMES, null],
    [['call.routed', 'call.*', 'Call.Routed'], 'no such event: call.*, Call.Routed'],
    [[''], 'no such event: '],
    [['constructor'], 'no such event: constructor'],
  ])('%j has the problem %j', (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(problem)
  })
})

it('the inputs of endpoints have a JSON schema', () => {
  for (const schema of [webhookUrl, webhookHeaders, eventPatternInput])
    expect(z.toJSONSchema(schema, { io: 'input' })).toBeTypeOf('object')
})
