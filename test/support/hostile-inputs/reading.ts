import { z } from 'zod'
import { digitsOf } from '../../../queries/shared/digits.ts'
import { atCursor, listQuery, pageOptions, RECORD_SORTS, textFilter } from '../../../queries/shared/listing.ts'
import { numberFilter } from '../../../queries/shared/number-search.ts'
import { numberingPlans, searchNumbers } from '../../../src/adapters/simulator/inventory.ts'
import { reverseDigits } from '../../../src/domain/calls/call-record.ts'
import { storedTag, tagsText } from '../../../src/domain/calls/tags.ts'
import { csvRow } from '../../../src/domain/shared/csv.ts'
import { CALL_LOG, NAME, NUMBER_QUERY, REQUEST, SEARCH, TAG, TEXT } from '../../../src/domain/shared/limits.ts'
import { areaCodes } from '../../../src/domain/shared/nanp.ts'
import type { NumberQuery } from '../../../src/ports/carrier-numbers.ts'
import type { Filter } from '../../../src/ports/read-store.ts'
import { fill, list, type Row, shapes } from './row.ts'

/** The texts that a filter looks for, as the embedded store does. */
function matchesText(filter: Filter, text: string): boolean {
  const alternatives = filter.$or ?? []
  return alternatives.some((each) =>
    Object.values(each).some((condition) => {
      if (typeof condition !== 'object' || condition === null || !('$regex' in condition)) return false
      return new RegExp(String(condition.$regex), `${condition.$options ?? ''}u`).test(text)
    }),
  )
}

/** The longest text that a search looks at. */
const LONGEST_SEARCHED = TEXT.notes

export const SEARCHES: readonly Row[] = [
  ...shapes(
    {
      'a text that almost matches everywhere': ['a', '', 'b'],
      'a text of several cases': ['ſ', '', 'b'],
      'regular expressions': ['(a+)+', '', '$'],
      'brackets without an end': ['[', ''],
      backslashes: ['\\', ''],
      stars: ['.*', ''],
      'lone surrogates': ['\ud800', ''],
    },
    SEARCH.text,
    (text) => {
      const filter = textFilter(text, ['name', 'company', 'contactName', 'externalRef'])
      return ['a', 'S', '(', '\\'].map((letter) => matchesText(filter, fill(LONGEST_SEARCHED, letter)))
    },
  ),
  ...shapes(
    { digits: ['1'], punctuation: ['(-'], letters: ['x', '1'], 'digits and a letter': ['1', '', 'x'] },
    SEARCH.number,
    (text) => [digitsOf(text), matchesText(numberFilter(text), fill(NAME.pool.max, '1'))],
  ),
  ...shapes({ 'digits of a caller': ['1'], 'no digits of a caller': ['-'] }, CALL_LOG.caller.max, reverseDigits),
]

const listed = z.object(listQuery('records', RECORD_SORTS))
const sortRow = (input: string, sent: Readonly<Record<string, string>>): Row => [
  input,
  () => () => {
    const query = listed.safeParse(sent)
    return query.success ? pageOptions(atCursor(query.data)) : null
  },
]

export const SORTS: readonly Row[] = [
  sortRow('a long unknown field', { sort: fill(REQUEST.path, 'createdAt'), dir: fill(REQUEST.path, 'asc') }),
  sortRow('a property of every object', { sort: '__proto__', dir: 'constructor' }),
  sortRow('a long page', { page: fill(REQUEST.path, '9'), pageSize: fill(REQUEST.path, '9') }),
  sortRow('a long page that is no number', { page: fill(REQUEST.path, '9', '', 'x'), pageSize: '1'.repeat(15) }),
]

const CELLS = {
  quotes: ['"'],
  'line ends': ['\r\n'],
  commas: [','],
  formulas: ['=@'],
  'formulas behind separators': [';=', '"'],
  'quotes behind separators': ['"', ';'],
  tabs: ['\t'],
  text: ['é'],
} as const

export const CSV: readonly Row[] = [
  ...shapes(CELLS, TEXT.notes, (text) => csvRow(list(12, () => text))),
  [
    'every tag of a call',
    (run) => {
      const tags = Object.fromEntries(
        list(TAG.call, (at) => [storedTag(fill(TAG.key, '.', `r${run}k${at}`)), fill(TAG.value, '"')]),
      )
      return () => csvRow([tagsText(tags)])
    },
  ],
]

const anyNumber: NumberQuery = {
  countryCode: 'US',
  numberType: null,
  areaCode: null,
  state: null,
  locality: null,
  rateCenter: null,
  contains: null,
  startsWith: null,
  endsWith: null,
  features: [],
  limit: NUMBER_QUERY.limit.max,
  bestEffort: false,
  quickship: false,
  reservable: false,
  excludeHeldNumbers: false,
}

function findNumbers(query: NumberQuery): readonly string[] {
  const found: string[] = []
  for (const plan of numberingPlans(areaCodes))
    for (const { e164 } of searchNumbers(plan, query)) {
      found.push(e164)
      if (found.length >= query.limit) return found
    }
  return found
}

const numberRow = (input: string, query: Partial<NumberQuery>): Row => [
  input,
  () => () => findNumbers({ ...anyNumber, ...query }),
]

export const NUMBER_SEARCHES: readonly Row[] = [
  numberRow('any number', {}),
  numberRow('one open digit', { contains: '*' }),
  numberRow('ten open digits', { contains: '*'.repeat(10) }),
  numberRow('more open digits than a number has', { contains: '*'.repeat(NUMBER_QUERY.contains) }),
  numberRow('an exchange that no number has', { contains: '****11****' }),
  numberRow('a prefix that no number has', { startsWith: '212555' }),
  numberRow('an end that no number has', { endsWith: '0000000', contains: '*' }),
  numberRow('an end and a digit', { endsWith: '2345678', contains: '5' }),
  numberRow('an unknown place', { locality: fill(NUMBER_QUERY.place, 'ß'), rateCenter: fill(NUMBER_QUERY.place, ' ') }),
]
