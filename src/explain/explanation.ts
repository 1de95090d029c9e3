import type { StoryStep } from '../domain/calls/story.ts'
import { parseStreamName } from '../kernel/entity.ts'
import type { DecisionDiff, Difference } from './decision-diff.ts'
import type { Explanation } from './explain.ts'

/** Characters of a value that a sentence repeats. */
const SHOWN = 200

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** What a step's sentence leaves out. */
const DETAIL_FIELDS: { readonly [step in StoryStep['step']]?: readonly string[] } = {
  gates: ['passed', 'failed'],
  skipped: ['reason'],
  dial: ['attemptNo'],
  result: ['outcome', 'sipCode'],
  unrouted: ['reason', 'action'],
}

function detailText({ step, detail }: StoryStep): string {
  const told = (DETAIL_FIELDS[step] ?? []).flatMap((name) => {
    const value = detail?.[name] ?? null
    if (value === null) return []
    return [`${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`]
  })
  return told.length > 0 ? ` [${told.join('; ')}]` : ''
}

const lineOf = (told: StoryStep) => `${told.at}  ${told.step.padEnd(9)}  ${told.sentence}${detailText(told)}`

const differenceOf = ({ field, recorded, decided }: Difference) =>
  `    ${field}: recorded ${shown(recorded)}, would be ${shown(decided)}`

function decisionLines({ command, revisions, differences, problem }: DecisionDiff): readonly string[] {
  const at = Object.entries(revisions).map(([stream, revision]) => `${parseStreamName(stream).category} ${revision}`)
  const verdict = problem ?? (differences.length === 0 ? 'the same' : 'OTHERWISE')
  return [`  ${command}: ${verdict} (read at revisions: ${at.join(', ')})`, ...differences.map(differenceOf)]
}

/** Whether every decision would be taken as it was. */
export function isReproduced({ decisions }: Explanation): boolean {
  return decisions.every(({ differences, problem }) => differences.length === 0 && problem === null)
}

function conclusionOf(explanation: Explanation): string {
  const { decisions } = explanation
  if (isReproduced(explanation)) return `All ${decisions.length} decisions would be taken as they were.`
  const wrong = decisions.filter((one) => !isReproduced({ ...explanation, decisions: [one] }))
  return `${wrong.length} of ${decisions.length} decisions would not be taken as they were.`
}

/** An explanation as text: the waterfall, then each decision taken again. */
export function explanationText(explanation: Explanation): string {
  const { ref, summary, steps, decisions } = explanation
  return [
    `${ref}: ${summary}`,
    '',
    ...steps.map(lineOf),
    '',
    'Taken again from what was recorded:',
    ...decisions.flatMap(decisionLines),
    '',
    conclusionOf(explanation),
  ].join('\n')
}
