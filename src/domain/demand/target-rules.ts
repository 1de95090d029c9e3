import { e164 } from '../shared/fields.ts'
import { type Problem, problemsOf } from '../shared/problems.ts'
import { scheduleProblem } from '../shared/schedule.ts'
import { statesProblem } from '../shared/states.ts'
import { zoneProblem } from '../shared/zones.ts'
import { pathProblem } from './bid-path.ts'
import { type Rtb, sipUri, type TagFilter } from './endpoint.ts'
import type { Target, TargetInput, TargetSettings } from './target.ts'
import { headerProblem } from './test-ping.ts'

const PATHS = ['bidPath', 'acceptPath', 'destinationPath', 'durationPath', 'expiresPath', 'rejectPath'] as const

function destinationProblem({ type, value }: NonNullable<Rtb['destination']>): string | null {
  const spelt = type === 'number' ? e164 : sipUri
  return spelt.safeParse(value).success ? null : `Not a ${type === 'number' ? 'number in E.164' : 'sip address'}.`
}

function rtbProblems(rtb: Rtb): readonly Problem[] {
  const { minBidCents, maxBidCents, destination } = rtb
  const above = minBidCents !== null && maxBidCents !== null && minBidCents > maxBidCents
  return [
    ['rtb.minBidCents', above ? 'Must not be above maxBidCents.' : null],
    ['rtb.destination.value', destination && destinationProblem(destination)],
    ...Object.keys(rtb.bidHeaders).map((name): Problem => [`rtb.bidHeaders.${name}`, headerProblem(name)]),
    ...PATHS.map((name): Problem => [`rtb.${name}`, rtb[name] === null ? null : pathProblem(rtb[name])]),
  ]
}

/** The kind of value that each operator compares with. */
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
  const sentence = wanted === 'nothing' ? `${op} takes no value.` : `${op} takes a ${wanted}.`
  return [`tagFilters.${place}.value`, fits ? null : sentence]
}

/** What is wrong with a target as it will be, across its fields, and with what was sent; null when nothing is. */
export function targetProblems(
  type: Target['type'],
  settings: TargetSettings,
  sent: TargetInput,
): Readonly<Record<string, string>> | null {
  const { revenueCents, endpoint, rtb } = settings
  const rules: readonly Problem[] = [
    ['revenueCents', type === 'rtb' && revenueCents !== null ? 'A bidding target has no price of its own.' : null],
    [
      'revenueCents',
      type !== 'rtb' && revenueCents === null ? 'A number or sip target has a price; 0 for none.' : null,
    ],
    ['endpoint', type === 'rtb' && sent.endpoint ? 'A bidding target is not dialled.' : null],
    ['rtb', type !== 'rtb' && sent.rtb ? 'Only a bidding target asks for bids.' : null],
    ['endpoint.sipUri', type === 'number' && endpoint?.sipUri ? 'A number target has no sip address.' : null],
    ['endpoint.destinationE164', type === 'sip' && endpoint?.destinationE164 ? 'A sip target has no number.' : null],
    [
      'endpoint.callerIdE164',
      endpoint?.callerIdMode === 'fixed' && !endpoint.callerIdE164 ? 'Required when the caller id is fixed.' : null,
    ],
    ...(rtb ? rtbProblems(rtb) : []),
    ...settings.tagFilters.map(tagFilterProblem),
    ['timezone', zoneProblem(settings.timezone)],
    ['hoursSchedule', sent.hoursSchedule ? scheduleProblem(sent.hoursSchedule) : null],
    ['states', statesProblem(settings.states)],
  ]
  return problemsOf(rules)
}
