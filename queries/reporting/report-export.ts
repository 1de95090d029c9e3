import type { Dimension } from '../../src/domain/reporting/dimensions.ts'
import { type CsvColumn, csvHeader, csvRows } from '../../src/domain/shared/csv.ts'
import { type CallsReport, callsReportShape } from './calls-report.ts'
import { METRICS } from './report-figures.ts'

type Group = CallsReport['groups'][number]

/** Columns of a report as a file: key and label of each dimension, then the figures. */
function columnsOf(groupBy: readonly Dimension[]): readonly CsvColumn<Group>[] {
  return [
    ...groupBy.flatMap((dimension, place): readonly CsvColumn<Group>[] => [
      { heading: dimension, of: ({ keys }) => keys[place] ?? null },
      { heading: `${dimension}Label`, of: ({ labels }) => labels[place] ?? null },
    ]),
    ...METRICS.map((metric): CsvColumn<Group> => ({ heading: metric, of: (group) => group[metric] })),
  ]
}

/** The heading row of the file. */
export function reportHead(groupBy: readonly Dimension[]): Uint8Array {
  return csvHeader(columnsOf(groupBy))
}

/** The rows of the file, from the JSON of the report. */
export function reportRows(groupBy: readonly Dimension[], json: Uint8Array): Uint8Array {
  const { groups } = callsReportShape.parse(JSON.parse(new TextDecoder().decode(json)))
  return csvRows(columnsOf(groupBy), groups)
}
