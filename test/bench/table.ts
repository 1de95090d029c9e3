import { type Figure, isReached } from './measure.ts'

const HEAD = ['figure', 'ours', 'ceiling', 'unit', 'ratio', 'range', 'must', ''] as const

const formatted = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)

function ratioOf(ratio: number, goal: Figure['goal']): string {
  return 'atLeast' in goal ? `${Math.round(ratio * 100)} %` : `${ratio.toFixed(2)}x`
}

function cellsOf(figure: Figure): readonly string[] {
  const { name, unit, ours, ceiling, ratio, range, goal } = figure
  const must = 'atLeast' in goal ? `>= ${ratioOf(goal.atLeast, goal)}` : `<= ${goal.atMost}x`
  const [least, most] = range.map((one) => ratioOf(one, goal))
  return [
    name,
    formatted(ours),
    formatted(ceiling),
    unit,
    ratioOf(ratio, goal),
    `${least} to ${most}`,
    must,
    isReached(figure) ? 'ok' : 'MISSED',
  ]
}

/** Formats figures and their ceilings as a table. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = [HEAD, ...figures.map(cellsOf)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return rows.map(line).join('\n')
}
