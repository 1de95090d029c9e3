import { z } from 'zod'
import { tagsInput, tagValue } from '../../../src/domain/calls/tags.ts'
import { type TagFilter, tagFilter } from '../../../src/domain/demand/endpoint.ts'
import { checkTagFilters } from '../../../src/domain/routing/tag-filters.ts'
import { isOpen, localMidnight, localTime } from '../../../src/domain/shared/hours.ts'
import { CALL_LOG, REQUEST, SCHEDULE, STATES, TAG, TARGET, TEXT } from '../../../src/domain/shared/limits.ts'
import { mapDays, normalizeSchedule, scheduleInput, scheduleProblem } from '../../../src/domain/shared/schedule.ts'
import { normalizeStates, statesProblem } from '../../../src/domain/shared/states.ts'
import { zoneProblem } from '../../../src/domain/shared/zones.ts'
import { fill, list, type Row, shapes } from './row.ts'

export const longTag = (end: string) => fill(TAG.value, 'a', '', end)
const callTags = Object.fromEntries(list(TAG.call, (at) => [`key${at}`, { value: longTag('z'), source: 'api' }]))
export const filtersOf = (op: TagFilter['op'], value: TagFilter['value']) =>
  list(TARGET.tagFilters, (at): TagFilter => ({ key: `key${at}`, op, value }))

const filterRow = (op: TagFilter['op'], value: TagFilter['value']): Row => [
  `${op}, of each filter`,
  () => {
    const filters = filtersOf(op, value)
    return () => {
      z.array(tagFilter).max(TARGET.tagFilters).parse(filters)
      return checkTagFilters('Target', filters, callTags)
    }
  },
]

export const TAG_FILTERS: readonly Row[] = [
  filterRow(
    'nin',
    list(TAG.values, (at) => longTag(String(at))),
  ),
  filterRow('in', [...list(TAG.values - 1, (at) => longTag(String(at))), longTag('z')]),
  filterRow(
    'in',
    list(TAG.values, (at) => longTag(String(at))),
  ),
  filterRow('prefix', longTag('z')),
  filterRow('neq', longTag('y')),
  [
    'every key wrong at its end',
    () => {
      const filters = list(TARGET.tagFilters, () => ({ key: fill(TAG.key, 'a', '', '!'), op: 'eq', value: 'a' }))
      return () => z.array(tagFilter).safeParse(filters)
    },
  ],
  [
    'tags of a request',
    () => {
      const sent = Object.fromEntries(list(TAG.request, (at) => [fill(TAG.key, '-', `k${at}`), fill(TAG.value, '🙂')]))
      return () => Object.values(tagsInput.parse(sent)).map((value) => tagValue(value ?? ''))
    },
  ],
]

const ZONES = Intl.supportedValuesOf('timeZone')
export const zoneAt = (run: number) => ZONES[run * 31] ?? 'UTC'
const FAR = [0, Date.parse('2026-03-08T10:00:00Z'), Date.parse('9999-12-31T23:59:59Z')]

const windowsOfDay = list(SCHEDULE.windowsPerDay, (at) => [`0${at}:00`, `0${at}:59`])

export const SCHEDULES: readonly Row[] = [
  [
    'every window of every day, in a new zone',
    (run) => {
      const sent = { tz: zoneAt(run), days: mapDays(() => windowsOfDay) }
      return () => {
        const input = scheduleInput.parse(sent)
        const problem = scheduleProblem(input)
        return problem ?? isOpen(normalizeSchedule(input, 'UTC'), Date.parse('2026-03-08T10:00:00Z'), 'UTC')
      }
    },
  ],
  [
    'every window wrong',
    () => {
      const wrong = list(SCHEDULE.windowsPerDay, () => ['24:00', '24:00'])
      const sent = { tz: 'UTC', days: mapDays(() => wrong) }
      return () => scheduleInput.safeParse(sent).success
    },
  ],
  ...shapes({ 'a window as long as a body': ['0', '', '!'] }, REQUEST.bodyBytes / 2, (text) =>
    scheduleInput.safeParse({ tz: 'UTC', days: { mon: [[text, text]] } }),
  ),
  ...shapes({ 'a state as long as a body': ['q', '', '!'] }, REQUEST.bodyBytes, (text) =>
    statesProblem(normalizeStates([text])),
  ),
  [
    'every state',
    () => {
      const codes = list(STATES.max, (at) => `${String.fromCharCode(97 + (at % 26))}q`)
      return () => statesProblem(normalizeStates(codes))
    },
  ],
]

export const ZONE_TEXTS: readonly Row[] = [
  ...shapes(
    {
      'slashes ': ['/', 'America#'],
      letters: ['a', 'A#'],
      'letters and a mark': ['a', 'A#', '!'],
      offsets: ['+01:', 'Etc/GMT#'],
      accents: ['é', 'A#'],
    },
    TEXT.zone,
    zoneProblem,
  ),
  ...FAR.map(
    (at): Row => [
      `days and clocks of a new zone at ${new Date(at).toISOString()}`,
      (run) => () => [localMidnight(zoneAt(run + 1), at, CALL_LOG.defaultDaysBack), localTime(zoneAt(run + 1), at)],
    ],
  ),
]
