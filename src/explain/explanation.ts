import type { StoryStep } from '../domain/calls/story.ts'
import { parseStreamName } from '../kernel/entity.ts'
import type { DecisionDiff, Difference } from './decision-diff.ts'

/** A step of a call's story, or of a ping's trace. */
export interface ExplainedStep extends Pick<StoryStep, 'at' | 'sentence' | 'detail'> {
  readonly step: string
}

/** How a call was routed, or a ping answered, with a replay of each decision. */
export interface Explanation {
  readonly ref: string
  /** Where it stands, in one sentence. */
  readonly summary: string
  readonly steps: readonly ExplainedStep[]
  readonly decisions: readonly DecisionDiff[]
}

/** Maximum characters of a value in a line. */
const MAX_VALUE_LENGTH = 200

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text
}

/** Detail fields that a step's sentence does not contain. */
const DETAIL_FIELDS: Readonly<Record<string, readonly string[]>> = {
  gates: ['passed', 'failed'],
  skipped: ['reason'],
  ping: ['status', 'latencyMs'],
  dial: ['attemptNo'],
  result: ['outcome', 'sipCode'],
  unrouted: ['reason', 'action'],
  bid: ['code'],
}

function detailText({ step, detail }: ExplainedStep): string {
  const parts = (DETAIL_FIELDS[step] ?? []).flatMap((name) => {
    const value = detail?.[name] ?? null
    if (value === null) return []
    return [`${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`]
  })
  return parts.length > 0 ? ` [${parts.join('; ')}]` : ''
}

const lineOf = (step: ExplainedStep) => `${step.at}  ${step.step.padEnd(9)}  ${step.sentence}${detailText(step)}`

const differenceOf = ({ field, recorded, decided }: Difference) =>
  `    ${field}: recorded ${valueText(recorded)}, replayed ${valueText(decided)}`

function lookupsText(lookups: DecisionDiff['lookups']): string {
  const found = Object.entries(lookups).map(([key, result]) => `${key}: ${result}`)
  return found.length > 0 ? `; looked up: ${found.join(', ')}` : ''
}

function decisionLines({ command, revisions, lookups, differences, problem }: DecisionDiff): readonly string[] {
  const at = Object.entries(revisions).map(([stream, revision]) => `${parseStreamName(stream).category} ${revision}`)
  const verdict = problem ?? (differences.length === 0 ? 'same' : 'DIFFERENT')
  return [
    `  ${command}: ${verdict} (read at revisions: ${at.join(', ')}${lookupsText(lookups)})`,
    ...differences.map(differenceOf),
  ]
}

/** Whether every replay gives the recorded events. */
export function isReproduced({ decisions }: Explanation): boolean {
  return decisions.every(({ differences, problem }) => differences.length === 0 && problem === null)
}

function conclusionOf(explanation: Explanation): string {
  const { decisions } = explanation
  if (isReproduced(explanation)) return `All ${decisions.length} decisions are reproduced.`
  const different = decisions.filter((decision) => !isReproduced({ ...explanation, decisions: [decision] }))
  return `${different.length} of ${decisions.length} decisions are not reproduced.`
}

/** An explanation as text: the steps of the call or ping, then each replayed decision. */
export function explanationText(explanation: Explanation): string {
  const { ref, summary, steps, decisions } = explanation
  return [
    `${ref}: ${summary}`,
    '',
    ...steps.map(lineOf),
    '',
    'Replayed decisions:',
    ...decisions.flatMap(decisionLines),
    '',
    conclusionOf(explanation),
  ].join('\n')
}
