import { z } from 'zod'
import { DELIVERY, WEBHOOK } from '../shared/limits.ts'
import { macroVocabulary } from './macro-vocabulary.ts'
import { coreTexts, eventTexts, extraTexts } from './payload-texts.ts'
import { SAMPLE_EVENT, sampleEnvelope } from './sample.ts'
import { payloadCore, WEBHOOK_EVENT_NAMES, type WebhookEventName, webhookEvents } from './webhook-events.ts'

type Schema = z.core.JSONSchema.BaseSchema
type Fields = Readonly<Record<string, z.ZodType>>

const FORMATS: Readonly<Record<string, string>> = { uuid: 'uuid', 'date-time': 'timestamp' }
const code = (text: string) => `\`${text}\``

/** The type of a field in words. */
function typeText(schema: Schema, root: Schema = schema): string {
  const { $ref, anyOf, enum: values, const: only, format, type, additionalProperties } = schema
  const named = $ref && root.$defs?.[$ref.slice($ref.lastIndexOf('/') + 1)]
  if (named) return typeText(named, root)
  if (anyOf) return anyOf.map((one) => typeText(one, root)).join(' or ')
  if (values) return values.map((value) => code(String(value))).join(', ')
  if (only !== undefined) return code(String(only))
  if (typeof additionalProperties === 'object') return `object of ${typeText(additionalProperties, root)} values`
  return (format && FORMATS[format]) || [type].flat().join(' or ')
}

/** Texts in columns, as wide as the widest of each. */
function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, at) => Math.max(...all.map((cells) => cells[at]?.length ?? 0)))
  const line = (cells: readonly string[], fill: string) =>
    `| ${widths.map((width, at) => (cells[at] ?? '').padEnd(width, fill)).join(' | ')} |`
  const [first = [], ...rest] = all
  return [line(first, ' '), line([], '-'), ...rest.map((cells) => line(cells, ' '))].join('\n')
}

/** The fields of a payload. Of a union each field once, in order. */
function fieldsOf(data: z.ZodType): Fields {
  const forms: readonly unknown[] = data instanceof z.ZodUnion ? data.options : [data]
  return Object.assign({}, ...forms.map((form) => (form instanceof z.ZodObject ? form.shape : {})))
}

function fieldTable(fields: Fields, textOf: (name: string) => string): string {
  const rows = Object.entries(fields).map(([name, field]) => [
    code(name),
    typeText(z.toJSONSchema(field)),
    textOf(name),
  ])
  return tableText(['Field', 'Type', 'Meaning'], rows)
}

function eventSection(event: WebhookEventName): string {
  const { description, data } = webhookEvents[event]
  const fields = fieldsOf(data)
  const hasCore = 'callId' in fields
  const own = Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(payloadCore.shape, name)))
  const textOf = (name: string) => eventTexts[`${event}.${name}`] ?? extraTexts[name] ?? ''
  const about = hasCore ? 'The payload core, and:' : 'No field of the payload core, only:'
  const told = Object.keys(own).length === 0 ? 'The payload core alone.' : `${about}\n\n${fieldTable(own, textOf)}`
  return `### ${event}\n\n${description} ${told}`
}

const headerRows = [
  ['`content-type`', '`application/json`; a POST pixel with a template may set its own'],
  ['`user-agent`', '`svc-webhooks/1`'],
  ['`svc-event`', 'Name of the event'],
  ['`svc-request-id`', '`id` of the envelope'],
  ['`svc-attempt`', `1 to ${DELIVERY.attempts}; higher is a replay that somebody asked for`],
  ['`svc-signature`', '`t=<unix seconds>,v1=<hex>`; absent on a GET pixel'],
]

const macroRows = macroVocabulary.map(({ token, description, example, inUrl }) => [
  code(token),
  description,
  code(example),
  inUrl,
])

const sections = (verifiers: string): readonly string[] => [
  '# Webhooks and pixels',
  'Written by `npm run webhook-docs` from the schemas of the code.',
  '## Events',
  'An endpoint hears events by their exact names, or all of them by `*`. A fact that a call lacks is null, never absent. Events can ' +
    'arrive out of order: order them by the instants in `data`.',
  ...WEBHOOK_EVENT_NAMES.map(eventSection),
  '## Payload core',
  'The fields of every event about a call.',
  fieldTable(payloadCore.shape, (name) => ({ ...extraTexts, ...coreTexts })[name] ?? ''),
  '## Envelope',
  'The body of a request. `id` is the same in every attempt and replay of an event: de-duplicate by it. `createdAt` is when this ' +
    'attempt was built. A test is marked by `"test": true` at the end.',
  `\`\`\`json\n${JSON.stringify(sampleEnvelope(SAMPLE_EVENT), null, 2)}\n\`\`\``,
  '## Headers',
  tableText(['Header', 'Value'], headerRows),
  `Up to ${WEBHOOK.headers} headers of your own are added, with their macros expanded. Those above win over them.`,
  '## Signature',
  "`v1` is the HMAC-SHA256, in lower-case hex, of `t`, a dot and the bytes of the body, keyed with the endpoint's secret (the whole text, " +
    'with `whsec_`). Verify the bytes as they came: a body that is written anew differs. Compare in constant time, and ' +
    'refuse a `t` that is more than five minutes away.',
  verifiers.trim(),
  '## Retries',
  `A status of 2xx accepts a delivery. Anything else fails: redirects are not followed, and the headers of an answer must come within ${DELIVERY.timeoutMs / 1_000} seconds. A delivery has ${DELIVERY.attempts} attempts; the waits between them are ${DELIVERY.backoffSeconds.join(', ')} seconds, and may be longer.`,
  '## Macros',
  "The URL and the body template of a pixel, and every endpoint's headers, may hold macros. A missing value expands to nothing, and " +
    "`{{{` is a literal `{{`. In a URL values are percent-encoded, and a caller's number is sent as its hash (`hashed`), as is a tag " +
    'that contains its ten digits. In a body values are escaped for its content type: as JSON by default, percent-encoded for ' +
    '`application/x-www-form-urlencoded`, and not at all for any other.',
  tableText(['Macro', 'Value', 'Example', 'In a URL'], macroRows),
]

/** The page for developers who receive webhooks. `verifiers` are the programs that verify a signature, as Markdown. */
export function webhookPage(verifiers: string): string {
  return `${sections(verifiers).join('\n\n')}\n`
}
