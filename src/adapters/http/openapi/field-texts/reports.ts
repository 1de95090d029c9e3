import { REPORT } from '../../../../domain/shared/limits.ts'
import type { FieldTexts } from './field-text.ts'

/** Texts of reports on calls. */
export const reportTexts: FieldTexts = {
  groupBy: [
    '1 or 2 of `campaign publisher buyer target number pool reason status outcome state attribution conversionSource hour day week month weekday hourOfDay tag:<key>`.',
    'day,campaign',
  ],
  'calls-report query.limit': ['Most groups.', REPORT.limit.default],
  'export-report query.limit': ['Most rows.', REPORT.exportRows],
  'calls-report query.sort': ['A figure, or `key`; by time, `key`, else `calls`.'],
  'export-report query.sort': ['A figure, or `key`; by time, `key`, else `calls`.'],
  'calls-report query.dir': ['Direction: figures fall, keys rise.'],
  'export-report query.dir': ['Direction: figures fall, keys rise.'],
  asOf: [
    'The books as they were known then; a plan feature. By default all that is known.',
    '2026-11-08T00:00:00.000Z',
  ],
  'CallsReportResponse.asOf': ['The instant of its newest row: the same report as of it says the same.'],
  groups: ['Groups of calls.'],
  keys: ['Ids or values, in the order of `groupBy`; null where calls have none.'],
  labels: ['Names of the keys, as they were.'],
  missed: ['Calls whose caller gave up.'],
  'CallsReportResponse.truncated': ['Whether more groups matched.'],
  'CallsReportResponse.groupBy': ['Dimensions.'],
  'CallsReportResponse.from': ['Start of the window, included.'],
  'CallsReportResponse.to': ['End of the window, excluded.'],
  'CallsReportResponse.timezone': ['The zone of hours, days, weeks and months.'],
  'LostCallsResponse.from': ['Start of the window, included.'],
  'LostCallsResponse.to': ['End of the window, excluded.'],
  'LostCallsResponse.timezone': ['The zone that the window was read in.'],
  reasons: ['Reasons, the most expensive first.'],
  'LostReason.reason': ['Gate or skip reason, or `missed`.', 'campaign_capped'],
  'LostReason.targets': ['Targets that were held back.'],
  judged: ['Calls that a target would have taken.'],
  lostCents: ['What it would have paid, in cents.', 45_000],
  assumptions: ['What the figures assume.'],
}
