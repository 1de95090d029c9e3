import type { Encode } from './macros.ts'

export const JSON_CONTENT = 'application/json'

const JSON_TYPE = /[/+]json\b/i
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i

/** Whether a content type is JSON. */
export function isJsonType(contentType: string): boolean {
  return JSON_TYPE.test(contentType)
}

/** A value in a URL or a form. Half a surrogate pair has no bytes, and becomes U+FFFD. */
export function percentEncode(value: string): string {
  return encodeURIComponent(value.toWellFormed())
}

/** A value inside a JSON string. */
function jsonEncode(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}

/** A value as it is. */
export function verbatim(value: string): string {
  return value
}

/** The escaping of a value in a body of a content type (Document 2, `bodyTemplate`). */
export function escaperFor(contentType: string): Encode {
  if (isJsonType(contentType)) return jsonEncode
  return FORM_TYPE.test(contentType) ? percentEncode : verbatim
}
