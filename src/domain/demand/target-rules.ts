import { excerpt } from '../../kernel/excerpt.ts'
import { e164 } from '../shared/fields.ts'
import { headerProblem } from '../shared/http-headers.ts'
import { type Problem, problemsOf } from '../shared/problems.ts'
import { scheduleProblem } from '../shared/schedule.ts'
import { statesProblem } from '../shared/states.ts'
import { zoneProblem } from '../shared/zones.ts'
import { BID_PATHS } from './bid-answer.ts'
import { pathProblem } from './bid-path.ts'
import { type Rtb, sipUri, type TagFilter } from './endpoint.ts'
import type { Target, TargetInput, TargetSettings } from './target.ts'

function destinationProblem({ type, value }: NonNullable<Rtb['destination']>): string | null {
  const spelt = type === 'number' ? e164 : sipUri
  return spelt.safeParse(value).success
    ? null
    : type === 'number'
      ? 'Must be a phone number in E.164 format, for example +13105550100.'
      : 'Must be a SIP address, for example sip:desk@example.com.'
}

/** Problems of the paths that a request names. A stored path is checked where it is used, so it holds no other change up. */
function pathProblems(sent: TargetInput['rtb'] = {}): readonly Problem[] {
  return BID_PATHS.map((name) => [`rtb.${name}`, typeof sent[name] === 'string' ? pathProblem(sent[name]) : null])
}

function rtbProblems(rtb: Rtb): readonly Problem[] {
  const { minBidCents, maxBidCents, destination } = rtb
  const above = minBidCents !== null && maxBidCents !== null && minBidCents > maxBidCents
  return [
    ['rtb.minBidCents', above ? 'Must be at most maxBidCents.' : null],
    ['rtb.destination.value', destination && destinationProblem(destination)],
    ...Object.keys(rtb.bidHeaders).map((name): Problem => [`rtb.bidHeaders.${excerpt(name)}`, headerProblem(name)]),
  ]
}

/** The kind of value that each operator requires. */
const VALUE_KINDS: Readonly<Record<TagFilter['op'], 'text' | 'list' | 'nothing'>> = {
  eq: 'text',
  neq: 'text',
  prefix: 'text',
  in: 'list',
  nin: 'list',
  exists: 'nothing',
  missing: 'nothing',
}

const kindOfValue = (value: TagFilter['value']) =>
  value === null ? 'nothing' : typeof value === 'string' ? 'text' : 'list'

function tagFilterProblem({ op, value }: TagFilter, place: number): Problem {
  const wanted = VALUE_KINDS[op]
  const fits = kindOfValue(value) === wanted
  const sentence =
    wanted === 'nothing'
      ? `Must be left out: the operator ${op} takes no value.`
      : `Must be a ${wanted} with the operator ${op}.`
  return [`tagFilters.${place}.value`, fits ? null : sentence]
}

/** What is wrong with a target after a request, across its fields, and with the request; null when it is valid. */
export function targetProblems(
  type: Target['type'],
  settings: TargetSettings,
  input: TargetInput,
): Readonly<Record<string, string>> | null {
  const { revenueCents, endpoint, rtb } = settings
  const rules: readonly Problem[] = [
    [
      'revenueCents',
      type === 'rtb' && revenueCents !== null ? 'Must be null: a target of type rtb has no fixed price.' : null,
    ],
    [
      'revenueCents',
      type !== 'rtb' && revenueCents === null ? 'Required for a target of type number or sip; 0 means no price.' : null,
    ],
    ['endpoint', type === 'rtb' && input.endpoint ? 'Must be left out: a target of type rtb has no endpoint.' : null],
    ['rtb', type !== 'rtb' && input.rtb ? 'Must be left out: only a target of type rtb has bidding settings.' : null],
    [
      'endpoint.sipUri',
      type === 'number' && endpoint?.sipUri ? 'Must be null: a target of type number has no SIP address.' : null,
    ],
    [
      'endpoint.destinationE164',
      type === 'sip' && endpoint?.destinationE164 ? 'Must be null: a target of type sip has no phone number.' : null,
    ],
    [
      'endpoint.callerIdE164',
      endpoint?.callerIdMode === 'fixed' && !endpoint.callerIdE164 ? 'Required when callerIdMode is fixed.' : null,
    ],
    ...(rtb ? rtbProblems(rtb) : []),
    ...(rtb ? pathProblems(input.rtb) : []),
    ...settings.tagFilters.map(tagFilterProblem),
    ['timezone', input.timezone === undefined ? null : zoneProblem(input.timezone)],
    ['hoursSchedule', input.hoursSchedule ? scheduleProblem(input.hoursSchedule) : null],
    ['states', statesProblem(settings.states)],
  ]
  return problemsOf(rules)
}
