import { excerpt } from '../../kernel/excerpt.ts'
import { isJsonType } from '../shared/escaping.ts'
import { headerProblem, headerValue } from '../shared/http-headers.ts'
import { WEBHOOK } from '../shared/limits.ts'
import { TOKEN_BEGIN, unknownTokens } from '../shared/macros.ts'
import { problemsOf } from '../shared/problems.ts'
import { createDeliveryRequest, type DeliveryRequest, type EndpointSettings } from './delivery-request.ts'
import { isKnownMacro } from './macro-vocabulary.ts'
import { SAMPLE_CALLER_HASH, SAMPLE_EVENT, sampleEnvelope } from './sample.ts'

/** Unknown tokens that a refusal names. */
const NAMED = 10
/** Scheme, credentials, host and port of a URL. The URL parser takes a backslash for a slash. */
const AUTHORITY = /^https?:[/\\]*[^/\\?#]*/i

/** The request that the sample would be. */
function sampleRequest(endpoint: EndpointSettings): DeliveryRequest {
  const envelope = sampleEnvelope(SAMPLE_EVENT)
  return createDeliveryRequest({
    endpoint,
    envelope,
    attempt: 1,
    secret: '',
    callerHash: SAMPLE_CALLER_HASH,
    now: envelope.createdAt,
  })
}

/** The URL by which an endpoint is vetted: a pixel's expanded against the sample. */
export function vettedUrl(endpoint: EndpointSettings): string {
  return sampleRequest(endpoint).url
}

function methodProblem({ kind, method }: EndpointSettings): string | null {
  return kind === 'webhook' && method !== 'POST' ? 'Must be POST: a webhook is always a POST.' : null
}

function webhookUrlProblem({ kind, url }: EndpointSettings): string | null {
  return kind === 'webhook' && url.includes(TOKEN_BEGIN) ? 'Must hold no macro: only the URL of a pixel may.' : null
}

function hostProblem({ url }: EndpointSettings): string | null {
  return AUTHORITY.exec(url)?.[0].includes(TOKEN_BEGIN)
    ? 'Must hold no macro in its host: macros may stand in its path and its query.'
    : null
}

function macrosProblem({ url, headers, bodyTemplate }: EndpointSettings): string | null {
  const templates = [url, ...Object.values(headers), bodyTemplate ?? '']
  const unknown = [...new Set(templates.flatMap((template) => unknownTokens(template, isKnownMacro)))]
  if (unknown.length === 0) return null
  const more = unknown.length > NAMED ? ` and ${unknown.length - NAMED} more` : ''
  return `unknown: ${unknown.slice(0, NAMED).map(excerpt).join(', ')}${more}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function templateProblem(endpoint: EndpointSettings): string | null {
  const { kind, method, bodyTemplate } = endpoint
  if (bodyTemplate === null) return null
  if (kind !== 'pixel' || method !== 'POST') return 'Must be null: only a pixel with the method POST has a template.'
  const { headers, body } = sampleRequest(endpoint)
  return isJsonType(headers['content-type'] ?? '') && !isJson(body ?? '')
    ? 'Must expand to valid JSON, unless a header content-type names another format.'
    : null
}

const headerLine = headerValue(WEBHOOK.header)

function headersProblem({ headers }: EndpointSettings): string | null {
  const problems = Object.entries(headers).flatMap(([name, value]) => {
    const problem = headerProblem(name) ?? headerLine.safeParse(value).error?.issues[0]?.message
    return problem ? [`${excerpt(name)}: ${problem}`] : []
  })
  return problems.length === 0 ? null : problems.join(' ')
}

type Rule = readonly [field: string, problem: (endpoint: EndpointSettings) => string | null]

/** The rules of an endpoint across its settings (Document 2, "POST /webhooks — create"): of a field the last one that fails is told. */
const RULES: readonly Rule[] = [
  ['method', methodProblem],
  ['url', webhookUrlProblem],
  ['url', hostProblem],
  ['macros', macrosProblem],
  ['bodyTemplate', templateProblem],
  ['headers', headersProblem],
]

/** What is wrong with the settings of an endpoint, by field, for a 400 `bad_request`; null when they are valid. */
export function endpointProblems(endpoint: EndpointSettings): Readonly<Record<string, string>> | null {
  return problemsOf(RULES.map(([field, problem]) => [field, problem(endpoint)]))
}
