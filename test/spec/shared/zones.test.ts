import { Temporal } from 'temporal-polyfill'
import { expect, test } from 'vitest'
import { isOpen, localMidnight, localTime, offsetAt } from '../../../src/domain/shared/hours.ts'
import { normalizeSchedule, patchSchedule } from '../../../src/domain/shared/schedule.ts'
import { ZONE_NAMES } from '../../../src/domain/shared/zone-names.ts'
import { canonicalZone, isZone, zoneOrUtc } from '../../../src/domain/shared/zones.ts'

const LINKS = ['US/Eastern', 'Asia/Calcutta', 'Asia/Kolkata', 'Etc/UTC', 'UTC', 'GMT', 'EST5EDT', 'Europe/Kiev']
const LEGACY = ['BST', 'IST', 'PST', 'CST', 'AET', 'ACT', 'JST', 'SystemV/EST5', 'Factory']

test('the list of zones has no name twice, and every zone that Intl lists', () => {
  expect(new Set(ZONE_NAMES).size).toBe(ZONE_NAMES.length)
  expect(Intl.supportedValuesOf('timeZone').filter((zone) => !isZone(zone))).toEqual([])
})

test('every zone of the list has local times and midnights', () => {
  const now = Date.parse('2026-07-01T12:00:00Z')
  for (const zone of ZONE_NAMES) {
    const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone)
    expect(offsetAt(zone, now), zone).toBe(local.offsetNanoseconds / 1e6)
  }
})

test('links are zones, legacy names of Intl are none', () => {
  expect(LINKS.filter((zone) => !isZone(zone))).toEqual([])
  expect(LEGACY.filter(isZone)).toEqual([])
})

test('a zone is read in any case and takes its canonical spelling; a link keeps its name', () => {
  expect(['america/new_york', 'US/EASTERN', 'utc', 'BST'].map(canonicalZone)).toEqual([
    'America/New_York',
    'US/Eastern',
    'UTC',
    'BST',
  ])
})

test('a stored name that is no IANA zone reads as UTC', () => {
  const at = Date.parse('2026-03-02T09:30:00Z')
  const days = { mon: [['09:00', '10:00']] } as const
  for (const zone of ['BST', 'Mars/Olympus', '']) {
    expect(zoneOrUtc(zone)).toBe('UTC')
    expect(localTime(zone, at)).toBe('2026-03-02 09:30:00')
    expect(localMidnight(zone, at, 0)).toBe(Date.parse('2026-03-02T00:00:00Z'))
    expect(isOpen({ ...normalizeSchedule({ days }, zone), tz: zone }, at, zone)).toBe(true)
    expect(patchSchedule(null, { days }, { input: undefined, record: zone })?.tz).toBe('UTC')
  }
})
