import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { defaultMetrics, type MetricShape, ownMetrics } from '../../../support/metrics/own-metrics.ts'
import { parsePromql } from '../../../support/metrics/promql.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const duration = z.string().regex(/^\d+[smh]$/)
const ruleFile = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Ringledger[A-Za-z]+$/),
          expr: z.string(),
          for: duration.optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({ summary: z.string(), action: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
})
const rules = ruleFile
  .parse(parse(read('docs/monitoring/ringledger-alerts.yml')))
  .groups.flatMap((group) => group.rules)

const source = z.object({ type: z.literal('prometheus'), uid: z.string().regex(/^\$\{datasource\}$/) })
const panel = z.object({
  id: z.int(),
  type: z.enum(['row', 'timeseries', 'stat']),
  title: z.string(),
  datasource: source.optional(),
  gridPos: z.object({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
  targets: z
    .array(z.object({ refId: z.string(), datasource: source, expr: z.string(), legendFormat: z.string() }))
    .optional(),
})
const dashboardFile = z.object({
  uid: z.string(),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  panels: z.array(panel),
})
const dashboard = dashboardFile.parse(JSON.parse(read('docs/monitoring/ringledger-dashboard.json')))

/** The expressions of both files by where they stand, with the texts that show their labels. */
const expressions = [
  ...rules.map(({ alert, expr, annotations }) => ({ name: alert, expr, texts: Object.values(annotations) })),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr, legendFormat }) => ({
      name: `${title} ${refId}`,
      // Grafana puts a duration in.
      expr: expr.replaceAll('$__rate_interval', '1m'),
      texts: [legendFormat],
    })),
  ),
]

/** Labels that Prometheus adds to each series. */
const ADDED: readonly string[] = ['instance', 'job']

/** The series of a metric, with their labels. */
function seriesOf({ name, type, labels }: MetricShape): readonly (readonly [string, readonly string[]])[] {
  const all = [...labels, ...ADDED]
  if (type !== 'histogram') return [[name, all]]
  return [
    [`${name}_bucket`, [...all, 'le']],
    [`${name}_count`, all],
    [`${name}_sum`, all],
  ]
}

/** The labels of every series, by its name. */
const series = new Map<string, readonly string[]>([
  ['up', ADDED],
  ...[...ownMetrics(), ...defaultMetrics()].flatMap(seriesOf),
])

/** Labels whose values the operations guide lists, in the row of their metric. */
const LISTED = new Set(['outcome', 'state', 'pool', 'thread', 'answered'])
const rowOf = (metric: string) =>
  read('docs/operations.md')
    .split('\n')
    .find((line) => line.startsWith(`| \`${metric.replace(/_(bucket|count|sum)$/, '')}\``)) ?? ''

/** Labels that a text of an alert or a legend shows. */
const shownIn = (text: string) =>
  [...text.matchAll(/\{\{\s*(?:\$labels\.)?([a-z_]+)\b/g)].map(([, label = '']) => label)

describe('the alert rules and the dashboard', () => {
  it.each(expressions)('$name reads series and labels that there are', ({ expr, texts }) => {
    const { selectors, groupings } = parsePromql(expr)
    expect(selectors.length).toBeGreaterThan(0)
    for (const { metric, matchers } of selectors) {
      expect(series.has(metric), metric).toBe(true)
      for (const { label, operator, value } of matchers) {
        expect(series.get(metric), metric).toContain(label)
        if (LISTED.has(label) && operator === '=') expect(rowOf(metric), metric).toContain(`\`${value}\``)
      }
    }
    const labels = selectors.flatMap(({ metric }) => series.get(metric) ?? [])
    for (const label of groupings) expect(labels).toContain(label)
    const kept = groupings.length > 0 ? groupings : labels
    for (const label of texts.flatMap(shownIn)) expect(kept).toContain(label)
  })

  it('every metric of the platform is in the dashboard', () => {
    const shown = expressions.flatMap(({ expr }) => parsePromql(expr).selectors.map(({ metric }) => metric))
    const names = new Set(shown.map((metric) => metric.replace(/_(bucket|count|sum)$/, '')))
    expect(ownMetrics().filter(({ name }) => !names.has(name))).toEqual([])
  })
})

describe('the alert rules', () => {
  it('have names of their own', () => {
    const names = rules.map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(rules)('$alert points to a section of the documents', ({ annotations: { runbook } }) => {
    const [path = '', section] = runbook.split('#')
    expect(existsSync(join(ROOT, path))).toBe(true)
    if (section === undefined) return
    const headings = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)
    const anchors = headings.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    expect(anchors).toContain(section)
  })
})

describe('the dashboard', () => {
  it('chooses its data source by a variable, and its panels lie beside each other', () => {
    expect(dashboard.templating.list).toContainEqual({ name: 'datasource', type: 'datasource' })
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })
})
