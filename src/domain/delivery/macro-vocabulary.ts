import { callerMacros } from '../shared/caller-macros.ts'
import { SAMPLE_CALLER_HASH, SAMPLE_EVENT, sampleData, sampleEnvelope } from './sample.ts'
import type { Envelope } from './webhook-events.ts'

/** How a macro's value is sent in a URL: as it is, or as the caller's hash (Document 2, "Pixels and macros", rule 2). */
export const MACRO_IN_URL = ['plain', 'hashed'] as const

/** What values are made of. The hash is of `data.callerNumber`; null without a number. */
export interface MacroSource {
  readonly envelope: Envelope
  readonly callerHash: string | null
}

/** What the macros of a delivery tell of. */
export interface MacroSubject {
  readonly envelope: Envelope
  /** Values of the macros that are made of the caller's number, which is shown. */
  readonly caller: Readonly<Record<string, string | null>>
}

/** The value of a macro; null where there is none. */
type ValueOf = (subject: MacroSubject) => string | null

/** `masked`: as the hash where it contains the caller's ten digits. */
type InUrl = (typeof MACRO_IN_URL)[number] | 'masked'

/** A macro that has a name of its own: `group.name`. */
export interface Macro {
  readonly name: string
  readonly description: string
  readonly inUrl: InUrl
  readonly value: ValueOf
}

/** A field of the payload; undefined where there is none. */
export function fieldOf({ data }: Envelope, key: string): unknown {
  return Object.hasOwn(data, key) ? data[key] : undefined
}

/** A text, a number, or `true` and `false`, as it stands in the payload. */
const fact =
  (key: string): ValueOf =>
  (subject) => {
    const value = fieldOf(subject.envelope, key)
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
  }

/** Cents as dollars with two decimals: `50.00`. */
const dollars =
  (key: string): ValueOf =>
  (subject) => {
    const cents = fieldOf(subject.envelope, key)
    return typeof cents === 'number' ? (cents / 100).toFixed(2) : null
  }

const envelope =
  (key: 'id' | 'event' | 'createdAt'): ValueOf =>
  (subject) =>
    subject.envelope[key]

const caller =
  (name: string): ValueOf =>
  (subject) =>
    subject.caller[name] ?? null

type Row = readonly [description: string, value: ValueOf, inUrl?: InUrl]

/** The macros of deliveries (Supplement §8), by `group.name`, beside `tag.<key>`. What a publisher sent may hold the number. */
const TABLE: Readonly<Record<string, Row>> = {
  'event.name': ['Name of the event.', envelope('event')],
  'event.id': ['Id of the event, the same in every attempt.', envelope('id')],
  'event.time': ['When this attempt was built, in ISO 8601.', envelope('createdAt')],
  'call.id': ['Id of the call.', fact('callId')],
  'call.ref': ['Reference of the call.', fact('ref')],
  'call.status': ['Status of the call.', fact('status')],
  'call.started': ['When the call arrived, in ISO 8601.', fact('startedAt')],
  'call.answered': ['When a buyer answered, in ISO 8601.', fact('answeredAt')],
  'call.ended': ['When the call ended, in ISO 8601.', fact('endedAt')],
  'call.talk': ['Seconds of talk with a buyer.', fact('talkSeconds')],
  'call.converted': ['Whether the call earned its price: true or false.', fact('converted')],
  'call.revenue': ['What the buyer pays, in dollars with two decimals.', dollars('revenueCents')],
  'call.payout': ['What the publisher earns, in dollars with two decimals.', dollars('payoutCents')],
  'call.dialed': ['The number that was called, in E.164.', fact('dialedNumber')],
  'call.state': ['State of the caller.', fact('callerState')],
  'call.city': ['City of the caller; of a call won at auction alone.', fact('callerCity'), 'masked'],
  'call.zip': ['ZIP code of the caller; of a call won at auction alone.', fact('callerZip'), 'masked'],
  'campaign.id': ['Id of the campaign.', fact('campaignId')],
  'campaign.name': ['Name of the campaign.', fact('campaignName')],
  'publisher.id': ['Id of the publisher.', fact('publisherId')],
  'publisher.name': ['Name of the publisher.', fact('publisherName')],
  'publisher.ref': ['The reference that the publisher gave at the auction.', fact('publisherRef'), 'masked'],
  'buyer.id': ['Id of the buyer.', fact('buyerId')],
  'buyer.name': ['Name of the buyer.', fact('buyerName')],
  'target.id': ['Id of the target.', fact('targetId')],
  'target.name': ['Name of the target.', fact('targetName')],
  'target.ref': ['External reference of the target.', fact('targetExternalRef')],
  'caller.e164': ['Number of the caller, in E.164.', caller('caller.e164'), 'hashed'],
  'caller.digits': ['Digits of the number, with the country code.', caller('caller.digits'), 'hashed'],
  'caller.nanp': ['The last ten digits of the number.', caller('caller.nanp'), 'hashed'],
  'caller.suffix': ['The last four digits of the number.', caller('caller.suffix'), 'hashed'],
  'caller.hash': ["The workspace's hash of the number: 32 hexadecimal digits.", caller('caller.hash')],
  'caller.state': ['State of the caller.', fact('callerState')],
  'caller.area': ['Area code of a North American number.', caller('caller.area')],
}

/** Every macro that has a name of its own. */
export const MACROS: readonly Macro[] = Object.entries(TABLE).map(([name, [description, value, inUrl = 'plain']]) => ({
  name,
  description,
  inUrl,
  value,
}))

const TAG = /^tag\.[\w.-]+$/

/** Whether a macro is known: one of the table, or any tag. */
export function isKnownMacro(name: string): boolean {
  return Object.hasOwn(TABLE, name) || TAG.test(name)
}

/** What the macros of a delivery tell of. */
export function macroSubject({ envelope, callerHash: hash }: MacroSource): MacroSubject {
  const number = fieldOf(envelope, 'callerNumber')
  return { envelope, caller: callerMacros({ e164: typeof number === 'string' ? number : null, hash }, true) }
}

/** A macro as the vocabulary shows it; the token is as it is typed. */
export interface MacroEntry {
  readonly group: string
  readonly token: string
  readonly description: string
  readonly example: string
  readonly inUrl: (typeof MACRO_IN_URL)[number]
}

const sample = macroSubject({ envelope: sampleEnvelope(SAMPLE_EVENT), callerHash: SAMPLE_CALLER_HASH })

/** The vocabulary of macros, with examples of the sample. */
export const macroVocabulary: readonly MacroEntry[] = [
  ...MACROS.map(({ name, description, inUrl, value }) => ({
    group: name.slice(0, name.indexOf('.')),
    token: `{{${name}}}`,
    description,
    example: value(sample) ?? '',
    inUrl: inUrl === 'hashed' ? inUrl : ('plain' as const),
  })),
  {
    group: 'tag',
    token: '{{tag.<key>}}',
    description: "A tag of the call by its key; in a URL the caller's hash where it contains the caller's ten digits.",
    example: sampleData(SAMPLE_EVENT).tags.source ?? '',
    inUrl: 'plain',
  },
]
