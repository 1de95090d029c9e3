import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type MetricShape, ownMetrics } from '../../../support/metrics/own-metrics.ts'

const OPERATIONS = join(import.meta.dirname, '../../../../docs/operations.md')

/** The rows of the table of metrics, without their texts. */
function documentedMetrics(): readonly MetricShape[] {
  const [, section = ''] = readFileSync(OPERATIONS, 'utf8').split('\n## Metrics\n')
  const [text = ''] = section.split('\n## ', 1)
  return text.split('\n').flatMap((line) => {
    const [, name = '', type = '', labels = ''] = line.split('|').map((cell) => cell.trim())
    if (!name.startsWith('`')) return []
    return [
      { name: name.replaceAll('`', ''), type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label) },
    ]
  })
}

const byName = (metrics: readonly MetricShape[]) => metrics.toSorted((a, b) => (a.name < b.name ? -1 : 1))

it('the operations guide lists every metric of the platform with its type and labels, and no other', () => {
  expect(byName(documentedMetrics())).toEqual(byName(ownMetrics()))
})
