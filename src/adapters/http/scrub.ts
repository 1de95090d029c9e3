import { redactSecrets } from '../../kernel/redact-secrets.ts'

const MASK = '•••'

/** Ends of the names of fields and parameters whose values are secrets. */
const SECRET_NAME =
  'password|passwd|passphrase|secret|token|authorization|cookie|(?:api|access|master|private|signing|routing)[_-]?key'

/** A field of JSON text with a secret, up to its value: group 1 is its name, group 2 the backslashes in front of its quotes. */
const SECRET_FIELD = new RegExp(String.raw`"([\w.-]{0,64}?(?:${SECRET_NAME}))(\\*)"\s{0,4}:\s{0,4}(?:\[\s{0,4})?`, 'gi')
const NUMBER = /-?\d[\d.eE+-]{0,40}/y

/** Index behind the closing quote of a JSON string whose quotes have `depth` backslashes in front of them. */
function stringEnd(text: string, from: number, depth: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (quote - backslashes > from && text[quote - backslashes - 1] === '\\') backslashes += 1
    // Each escaped backslash of the content is `2 * (depth + 1)` of them, and an escaped quote has `2 * depth + 1` in front.
    if (backslashes % (2 * (depth + 1)) <= depth) return quote + 1
  }
  return text.length
}

/** Index behind the value that begins at `from`; `from` itself when it is neither a string nor a number. */
function valueEnd(text: string, from: number, quote: string): number {
  if (text.startsWith(quote, from)) return stringEnd(text, from + quote.length, quote.length - 1)
  NUMBER.lastIndex = from
  return from + (NUMBER.exec(text)?.[0].length ?? 0)
}

/** Replaces the values of fields with secrets, in JSON text and in JSON text that is itself a JSON string. */
function redactFields(text: string): string {
  let redacted = ''
  let done = 0
  for (const field of text.matchAll(SECRET_FIELD)) {
    const quote = `${field[2]}"`
    const from = field.index + field[0].length
    const end = from < done ? from : valueEnd(text, from, quote)
    if (end === from) continue
    redacted += `${text.slice(done, from)}${quote}${MASK}${quote}`
    done = end
  }
  return done === 0 ? text : redacted + text.slice(done)
}

type Rule = readonly [RegExp, string | ((match: string, ...groups: string[]) => string)]

/** The user of a SIP address: of a phone number the last four digits stay. */
const maskUser = (_match: string, scheme: string, user: string, at: string) =>
  `${scheme}${MASK}${/^(?:\+|%2B)?[\d().•-]*?(\d{4})$/i.exec(user)?.[1] ?? ''}${at}`

/** A phone number with its last four digits. */
const maskNumber = (match: string) => `+${MASK}${match.replaceAll(/\D/g, '').slice(-4)}`

/**
 * What else must not reach a log line. Repetitions are bounded or begin where the one before ended, so that each rule
 * takes linear time. Numbers of JSON stay, unless their field is one of phone numbers: they are counts, instants and prices.
 */
const RULES: readonly Rule[] = [
  // Credentials in front of a host. The passwords of stores are often written without the escapes that a URL asks for.
  [
    /((?:mongodb|esdb|kurrentdb|eventstore|postgres|redis|amqp|mysql)[+\w]{0,12}:(?:\\?\/){2})[^\s"'\\]{0,256}@/gi,
    `$1${MASK}@`,
  ],
  [/(:(?:\\?\/){2})[^\s"'\\/?#@]{1,512}@/g, `$1${MASK}@`],
  [/(%3A%2F%2F)[^\s"'\\&]{1,256}?%40/gi, `$1${MASK}%40`],
  [/\b(sips?(?::|%3A))([^\s"'\\@<>;,]{1,128}?)(@|%40)/gi, maskUser],
  [new RegExp(String.raw`((?:${SECRET_NAME})=)[^\s"'\\&;,]+`, 'gi'), `$1${MASK}`],
  [/\b(Bearer|Basic)((?: |\+|%20)+)[^\s"'\\,]+/gi, `$1 ${MASK}`],
  [/\bKEY[0-9A-F]{16,64}_[\w-]{8,64}/g, `KEY${MASK}`],
  // Phone numbers: with a plus sign; in fields of them, where JSON may have them as numbers; of North America; others.
  [/(?<!\d)(?:\+|%2B)[1-9](?:\d{6,14}(?!\d)|(?:[ ().-]{0,2}\d){6,14})/gi, maskNumber],
  [
    /((?:caller|phone|number|from|to|ani|dnis|e164|msisdn)(\\*)":\s{0,4})\d{3,11}(\d{4})(?![\d.])/gi,
    `$1$2"${MASK}$3$2"`,
  ],
  [
    /(?<![A-Za-z0-9]|[0-9a-f]{4}-|CA-|AU-|\d\.|":\s{0,4})(?:1[ .-]?)?\(?[2-9]\d{2}\)?[ .-]?[2-9]\d{2}[ .-]?(\d{4})(?![A-Za-z0-9]|\.\d)/g,
    `${MASK}$1`,
  ],
  [
    /(?<![A-Za-z0-9]|[0-9a-f]{4}-|\d\.|":\s{0,4})(?:0(?:0|11)[1-9]\d{3,10}|[2-9]\d{6,8})(\d{4})(?![A-Za-z0-9]|\.\d)/g,
    `${MASK}$1`,
  ],
]

/** A log line without phone numbers, credentials and other secrets; ids, instants, counts and prices stay readable. */
export function scrub(line: string): string {
  return RULES.reduce(
    // `replace` takes a text or a function; a rule has either.
    (text, [pattern, put]) => (typeof put === 'string' ? text.replace(pattern, put) : text.replace(pattern, put)),
    redactSecrets(redactFields(line)),
  )
}
