import { z } from 'zod'
import { severity } from '../activity/activity-entry.ts'
import { formatDollars, pluralize } from '../shared/format.ts'
import { ALERTS } from '../shared/limits.ts'

/** Something that stops or soon will stop calls, with the console page where it is seen to (Supplement §10, Overview). */
export const alert = z.object({ severity, sentence: z.string(), to: z.string() }).meta({ id: 'Alert' })
export type Alert = Readonly<z.infer<typeof alert>>

interface NamedRecord {
  readonly id: string
  readonly name: string
}

/** A cap of a record and how much of it is used, in the cap's window; cents where `isMoney`. */
export interface CapUse {
  readonly kind: 'target' | 'buyer' | 'campaign' | 'lane'
  readonly name: string
  readonly to: string
  /** As a sentence names it: `daily cap`. */
  readonly cap: string
  readonly used: number
  readonly limit: number
  readonly isMoney: boolean
}

/** What the alerts of a workspace are judged by. */
export interface AlertFacts {
  readonly subscriptionStatus: 'active' | 'past_due' | 'canceled'
  readonly balanceCents: number
  /** Promised to orders that are not filled yet. */
  readonly reservedCents: number
  /** What the minutes of the last seven days cost. */
  readonly weekUsageCents: number
  readonly restrictedCampaigns: readonly NamedRecord[]
  /** Numbers by the status of their rent, and numbers on a campaign to which the carrier does not deliver. */
  readonly numbers: { readonly pastDue: number; readonly suspended: number; readonly undelivered: number }
  /** Active targets after failed dials: `suppressed` ones are passed over for now. */
  readonly targets: readonly (NamedRecord & { readonly health: 'degraded' | 'down'; readonly suppressed: boolean })[]
  readonly degradedWebhooks: readonly NamedRecord[]
  readonly caps: readonly CapUse[]
}

type Found = Omit<Alert, 'severity'>

interface AlertRule {
  readonly severity: Alert['severity']
  readonly find: (facts: AlertFacts) => readonly Found[]
}

const when = (holds: boolean, sentence: string, to: string): readonly Found[] => (holds ? [{ sentence, to }] : [])

/** Whether a cap is full, and whether it is nearly so. 0 is unlimited. */
const isFull = ({ used, limit }: CapUse) => limit > 0 && used >= limit
const isNear = (use: CapUse) => !isFull(use) && use.limit > 0 && use.used >= use.limit * ALERTS.nearShare

function capSentence({ kind, name, cap, used, limit, isMoney }: CapUse, became: string): string {
  const figures = isMoney
    ? `${formatDollars(used)} of ${formatDollars(limit)}`
    : `${used} of ${pluralize(limit, 'call')}`
  return `The ${kind} ${name} ${became} its ${cap} (${figures}).`
}

const SUBSCRIPTIONS = { past_due: 'past due', canceled: 'canceled' } as const

/** The rules, those of one severity in the order in which they are shown. */
const RULES: readonly AlertRule[] = [
  {
    severity: 'high',
    find: ({ subscriptionStatus: status }) =>
      status === 'active'
        ? []
        : [{ sentence: `The subscription is ${SUBSCRIPTIONS[status]}: callers are turned away.`, to: '/workspace' }],
  },
  {
    severity: 'high',
    find: ({ balanceCents }) =>
      when(
        balanceCents <= 0,
        `The wallet is empty (${formatDollars(balanceCents)}): callers are turned away.`,
        '/wallet',
      ),
  },
  {
    severity: 'high',
    find: ({ restrictedCampaigns }) =>
      restrictedCampaigns.map(({ id, name }) => ({
        sentence: `The campaign ${name} is restricted by the platform and takes no calls.`,
        to: `/campaigns/${id}`,
      })),
  },
  {
    severity: 'high',
    find: ({ numbers: { suspended } }) =>
      when(
        suspended > 0,
        `${pluralize(suspended, 'number')} suspended for unpaid rent: no calls are taken there.`,
        '/numbers?status=suspended',
      ),
  },
  {
    severity: 'high',
    find: ({ numbers: { undelivered } }) =>
      when(
        undelivered > 0,
        `${pluralize(undelivered, 'number')} on a campaign without calls: the carrier does not deliver them.`,
        '/numbers',
      ),
  },
  {
    severity: 'high',
    find: ({ targets }) =>
      targets
        .filter(({ health }) => health === 'down')
        .map(({ id, name, suppressed }) => ({
          sentence: `The target ${name} is down${suppressed ? ' and passed over for now' : ''}: its last calls failed.`,
          to: `/targets/${id}`,
        })),
  },
  {
    severity: 'medium',
    find: ({ balanceCents, reservedCents, weekUsageCents }) => {
      const left = balanceCents - reservedCents
      const sentence = `The wallet has ${formatDollars(left)} left, less than the ${formatDollars(weekUsageCents)} that the minutes of the last seven days cost.`
      return when(balanceCents > 0 && left < weekUsageCents, sentence, '/wallet')
    },
  },
  {
    severity: 'medium',
    find: ({ numbers: { pastDue } }) =>
      when(pastDue > 0, `The rent of ${pluralize(pastDue, 'number')} could not be paid.`, '/numbers?status=past_due'),
  },
  {
    severity: 'medium',
    find: ({ targets }) =>
      targets
        .filter(({ health, suppressed }) => health === 'degraded' && suppressed)
        .map(({ id, name }) => ({
          sentence: `The target ${name} is passed over for now: it asked to be left alone after a failed call.`,
          to: `/targets/${id}`,
        })),
  },
  {
    severity: 'medium',
    find: ({ degradedWebhooks }) =>
      degradedWebhooks.map(({ id, name }) => ({
        sentence: `The endpoint ${name} does not accept its deliveries.`,
        to: `/webhooks/${id}`,
      })),
  },
  {
    severity: 'medium',
    find: ({ caps }) => caps.filter(isFull).map((use) => ({ sentence: capSentence(use, 'has reached'), to: use.to })),
  },
  {
    severity: 'low',
    find: ({ caps }) => caps.filter(isNear).map((use) => ({ sentence: capSentence(use, 'is near'), to: use.to })),
  },
]

const ORDER: readonly Alert['severity'][] = ['high', 'medium', 'low']

/** The alerts of a workspace, the most severe first: at most `ALERTS.max`. */
export function alertsOf(facts: AlertFacts): readonly Alert[] {
  return ORDER.flatMap((severity) =>
    RULES.filter((rule) => rule.severity === severity).flatMap(({ find }) =>
      find(facts).map((found) => ({ severity, ...found })),
    ),
  ).slice(0, ALERTS.max)
}
