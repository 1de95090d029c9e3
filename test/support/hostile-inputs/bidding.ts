import { createBidRequests, createTestRequest } from '../../../src/domain/bidding/bid-request.ts'
import { BID_PATHS, readBidAnswer } from '../../../src/domain/demand/bid-answer.ts'
import { pathProblem } from '../../../src/domain/demand/bid-path.ts'
import { DEFAULT_RTB } from '../../../src/domain/demand/endpoint.ts'
import { defaultTarget } from '../../../src/domain/demand/target.ts'
import { targetProblems } from '../../../src/domain/demand/target-rules.ts'
import { RTB, STATES, TAG } from '../../../src/domain/shared/limits.ts'
import { expandMacros } from '../../../src/domain/shared/macros.ts'
import { sampleBidder, sampleSubject } from '../fixtures/bids.ts'
import { idOf, NOW } from '../fixtures/spec.ts'
import { filtersOf, longTag, zoneAt } from './routing.ts'
import { fill, list, type Row, shapes } from './row.ts'

const allPaths = (path: string) => Object.fromEntries(BID_PATHS.map((name) => [name, path]))

/** Evaluates all paths of a target in an answer of the largest size. */
function answerRow(input: string, pathFor: (run: number) => string, answer: string): Row {
  return [
    input,
    (run) => {
      const bidder = { ...DEFAULT_RTB, ...allPaths(pathFor(run)) }
      return () => readBidAnswer(bidder, answer)
    },
  ]
}

export const PATHS: readonly Row[] = [
  ...shapes(
    {
      'unions that multiply': ['[0,0]', '$.r#'],
      'wildcards that multiply': ['[*,*]', '$.r#'],
      'a long union': ['*,', '$.r#[', '*]'],
      descents: ['..*', '$.r#'],
      'descents with filters': ['..[?@..a]', '$.r#'],
      'nested filters': ['[?@', '$.r#'],
      'a long filter': ['&&@.a', '$.r#[?@.a', ']'],
      parentheses: ['(', '$.r#[?'],
      negations: ['!', '$.r#[?'],
      'nested functions': ['length(', '$.r#[?'],
      'a regular expression': ['(a+)+', "$.r#[?match(@.a,'", "b')]"],
      slices: ['[::]', '$.r#'],
      'escaped quotes without an end': ["\\'", "$.r#['"],
      'escaped characters': ['\\u0041', "$['#", "']"],
      blanks: [' ', '$.r#', '.a'],
      digits: ['9', '$.r#[', ']'],
      'one name': ['a', '$.r#'],
      'too many segments': ['.a', '$.r#'],
    },
    RTB.path,
    (path) => BID_PATHS.map(() => pathProblem(path)),
  ),
  answerRow('a deep answer', () => `$${'[0]'.repeat(RTB.pathSegments)}`, fill(RTB.answerBytes, '[')),
  answerRow(
    'a deep answer with its ends',
    () => `$${'[0]'.repeat(RTB.pathSegments)}`,
    '['.repeat(RTB.answerBytes / 2) + ']'.repeat(RTB.answerBytes / 2),
  ),
  answerRow('a long list', (run) => `$[-${run + 1}]`, JSON.stringify(list(RTB.answerBytes / 2 - 1, () => 0))),
  answerRow('a text', () => '$', fill(RTB.answerBytes, ' ', '"', '"')),
  answerRow('a text of digits', () => '$', fill(RTB.answerBytes, '9', '"', '."')),
  answerRow(
    'a wide object',
    (run) => `$.a${run}`,
    JSON.stringify(Object.fromEntries(list(RTB.answerBytes / 11, (at) => [`a${at}`, 0]))),
  ),
  answerRow(
    'an answer to a stored path that multiplies',
    () => `$${'[0,0]'.repeat(RTB.pathSegments - 1)}.missing`,
    '['.repeat(RTB.pathSegments) + ']'.repeat(RTB.pathSegments),
  ),
  answerRow('an answer to a stored path', (run) => fill(RTB.path, '[0,0]', `$.r${run}`), fill(RTB.answerBytes, '[')),
  answerRow('an answer to a stored path of any length', () => fill(1_000_000, '[0,0]', '$'), '[[[]]]'),
]

const TEMPLATE_SHAPES = {
  tokens: ['{{tag.a}}'],
  'unknown tokens': ['{{a.b}}'],
  'tokens without an end': ['{{'],
  'tokens without an end that hold a name': ['{{a '],
  'blanks in a token': [' ', '{{'],
  'a name without an end': ['a', '{{'],
  'a name and blanks without an end': [' ', `{{${'a'.repeat(RTB.url / 2)}`],
  'literal braces': ['{{{'],
} as const

const sampleTokens = { ...TEMPLATE_SHAPES, 'tokens of a sample caller': ['{{caller.hash}}'] } as const

/** The encoders, each with the character that takes it longest. */
const ENCODERS = {
  JSON: [(value: string) => JSON.stringify(value).slice(1, -1), '\ud800'],
  'a form': [encodeURIComponent, '🙂'],
} as const

/** Every tag of a ping, at its longest. */
const longTags = Object.fromEntries(list(TAG.request, (at) => [`k${at}`, fill(TAG.value, '1')]))
const headersOf = (value: string) => Object.fromEntries(list(RTB.headers, (at) => [`x-${at}`, value]))

export const TEMPLATES: readonly Row[] = [
  ...Object.entries(ENCODERS).flatMap(([kind, [encode, value]]) =>
    shapes(TEMPLATE_SHAPES, RTB.body, (text) => expandMacros(text, { 'tag.a': fill(TAG.value, value) }, encode)).map(
      ([input, prepare]): Row => [`${input} in ${kind}`, prepare],
    ),
  ),
  ...shapes(sampleTokens, RTB.body, (bidBodyTemplate) =>
    createTestRequest(
      { ...DEFAULT_RTB, bidBodyTemplate, bidUrl: fill(RTB.url, '{{caller.hash}}', 'https://a.example/') },
      sampleBidder,
      NOW,
    ),
  ).map(([input, prepare]): Row => [`${input} in a ping`, prepare]),
  ...shapes({ 'tokens of tags': ['{{tag.k0}}'] }, RTB.header, (value) =>
    createBidRequests({ ...sampleSubject, tags: longTags })(
      { ...DEFAULT_RTB, bidUrl: 'https://a.example/', bidHeaders: headersOf(value) },
      { ...sampleBidder, bidCents: null },
    ),
  ).map(([input, prepare]): Row => [`${input} in every header, with every tag`, prepare]),
]

export const TARGETS: readonly Row[] = [
  [
    'every rule of a target at once',
    (run) => {
      const sent = {
        timezone: zoneAt(run),
        states: list(STATES.max, () => 'CA'),
        tagFilters: filtersOf(
          'in',
          list(TAG.values, (at) => longTag(String(at))),
        ),
        rtb: allPaths(fill(RTB.path, '[0,0]', `$.t${run}`)),
      }
      const plain = defaultTarget('rtb', 'Desk', { buyerId: idOf(1), endpointId: idOf(2), zone: 'UTC' })
      const settings = { ...plain, ...sent, rtb: { ...DEFAULT_RTB, ...sent.rtb } }
      return () => targetProblems('rtb', settings, sent)
    },
  ],
]
