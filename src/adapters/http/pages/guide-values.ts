import * as limits from '../../../domain/shared/limits.ts'
import type { Mount } from '../../../kernel/query.ts'
import type { ApiRoute } from '../../../ports/api.ts'
import { headerNames } from '../../../ports/api-headers.ts'
import { FAILING_DESTINATIONS, RING_SECONDS, scriptedDial, TALK_SECONDS } from '../../../ports/call-script.ts'
import { NUMBER_ENDINGS, SEARCH_AREA_CODES } from '../../../ports/simulated-numbers.ts'
import { refusals } from '../refusals.ts'

/** Why a ping gets no offer: code, word and sentence. */
export interface NoBidText {
  readonly code: number
  readonly reason: string
  readonly sentence: string
}

/** What the guide is made from. */
export interface GuideOptions {
  readonly routes: readonly Pick<ApiRoute, 'surface'>[]
  /** Scopes that an API key may have. */
  readonly scopes: readonly string[]
  /** Why a publisher's ping gets no offer. */
  readonly noBids: readonly NoBidText[]
}

/** What the guide names is taken from here: `{{limits.PAGE.max}}` in a text is the value at that path. */
export interface GuideValues {
  readonly [name: string]: string | number | GuideValues
}

type Surface = Mount['surface']

/** The surfaces as the guide lists them: those with one credential and one base path together. */
const SURFACES: readonly { readonly surfaces: readonly Surface[]; readonly row: readonly string[] }[] = [
  { surfaces: ['rest'], row: ['REST API', '`/api/v1`', 'an API key with the scope of the route'] },
  {
    surfaces: ['console'],
    row: [
      'Console',
      '`/api/tracking`, `/api/publishers`',
      "a session of the workspace's owner or admin; the buyer reads take an API key too",
    ],
  },
  { surfaces: ['portal'], row: ['Publisher portal', '`/api/portal`', "a session of a publisher's user"] },
  { surfaces: ['sign-in'], row: ['Sign-in', '`/api/auth`', 'none, then the session that it answers'] },
  { surfaces: ['sandbox'], row: ['Sandbox', '`/api/sandbox`', 'a session of a sandbox workspace'] },
  { surfaces: ['carrier'], row: ['Carrier', '`/api/carrier`', "the carrier's signature"] },
  { surfaces: ['rtb'], row: ['Real-time bidding', '`/api/rtb`', "a publisher's routing key, or a token in the path"] },
  { surfaces: ['operator'], row: ['Operator', '`/api/operator`', "the operator token of the platform's staff"] },
]

/** A Markdown table; cells are Markdown. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Every error code with its status and its first sentence, in the order of the table of refusals. */
function errorTable(): string {
  const first = new Map(
    Object.values(refusals)
      .map((row) => [`${row.status} ${row.code}`, row] as const)
      .toReversed(),
  )
  const rows = [...first.values()].toReversed()
  return markdownTable(
    ['Status', 'Code', 'Meaning'],
    rows.map(({ status, code, message }) => [String(status), `\`${code}\``, message.replaceAll('<', '&lt;')]),
  )
}

/** What becomes of the order of a number that ends so. */
const endingMeanings: Readonly<Record<keyof typeof NUMBER_ENDINGS, string>> = {
  delayed: 'pending first, then completed',
  review: 'waits for a review by the staff',
  gone: 'failed: the number is no longer available',
  failing: 'pending first, then failed',
  unconnected: 'bought, but calls to it cannot be connected (`webhookStatus: failed`)',
  unreachable: 'the carrier does not answer: the order stays pending and is tried again',
  held: 'failed: another customer holds it; a search with `excludeHeldNumbers` leaves it out',
}

const code = (text: string) => `\`${text}\``

function tables({ routes, scopes, noBids }: GuideOptions): GuideValues {
  const served = new Set(routes.map(({ surface }) => surface))
  const rows = SURFACES.filter(({ surfaces }) => surfaces.some((surface) => served.has(surface))).map(({ row }) => row)
  return {
    surfaces: markdownTable(['Surface', 'Base path', 'Credential'], rows),
    scopes: scopes.toSorted().map(code).join(', '),
    errors: errorTable(),
    results: scriptedDial.shape.result.options.map(code).join(', '),
    destinations: markdownTable(
      ['Destination', 'Result'],
      Object.entries(FAILING_DESTINATIONS).map(([destination, { result }]) => [code(destination), code(result)]),
    ),
    noBids: markdownTable(
      ['Code', 'Reason', 'What it says'],
      noBids.map(({ code: number, reason, sentence }) => [String(number), code(reason), sentence]),
    ),
    endings: markdownTable(
      ['Ends with', 'The order'],
      Object.entries(endingMeanings).map(([name, meaning]) => [code(endingOf(name)), meaning]),
    ),
  }
}

const endingOf = (name: string) => new Map<string, string>(Object.entries(NUMBER_ENDINGS)).get(name) ?? ''
const kilobytes = (bytes: number) => (bytes < 1024 ** 2 ? `${bytes / 1024} KB` : `${bytes / 1024 ** 2} MB`)

/** The values that the guide to a platform names. */
export function guideValues(options: GuideOptions): GuideValues {
  return {
    limits: { ...limits } as unknown as GuideValues,
    headers: headerNames,
    bytes: {
      body: kilobytes(limits.REQUEST.bodyBytes),
      credentialBody: kilobytes(limits.REQUEST.credentialBodyBytes),
      pingBody: kilobytes(limits.PING.bodyBytes),
    },
    seconds: { rateWindow: limits.RATE.windowMs / 1_000 },
    hours: { portalGrace: limits.ROUTING_KEY.graceMinutes.portal / 60 },
    script: { ringSeconds: RING_SECONDS, talkSeconds: TALK_SECONDS },
    endings: NUMBER_ENDINGS,
    searches: SEARCH_AREA_CODES,
    tables: tables(options),
  }
}

/** Replaces each `{{path}}` of a text by its value. @throws Error that names a path without a value */
export function fillIn(text: string, values: GuideValues): string {
  return text.replaceAll(/\{\{([\w.]+)\}\}/g, (_match, path: string) => {
    let value: string | number | GuideValues | undefined = values
    for (const step of path.split('.')) {
      value = typeof value === 'object' && Object.hasOwn(value, step) ? value[step] : undefined
    }
    if (typeof value === 'object' || value === undefined) throw new Error(`The guide names ${path}, which has no value`)
    return String(value)
  })
}
