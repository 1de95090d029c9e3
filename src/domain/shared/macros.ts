/** Values of tokens, by `group.name`. */
export type MacroValues = Readonly<Record<string, string | undefined>>

/** Encodes a value for its place. */
export type Encode = (value: string) => string

/** The begin of every token, and of a literal `{{`. */
export const TOKEN_BEGIN = '{{'

// No two of its parts match the same character, and a token holds no brace: time is linear in the template.
const TOKEN = /\{\{\{|\{\{\s*([\w.-]+)\s*\}\}/g
const BRACES = /\{\{\{|\{\{|\}\}/g

/**
 * A template with its tokens replaced: `{{group.name}}` becomes its value, encoded for its place, or nothing without a value;
 * `{{{` becomes a literal `{{` (Document 2, "Pixels and macros").
 */
export function expandMacros(template: string, values: MacroValues, encode: Encode): string {
  const encoded = new Map<string, string>()
  const encodedValue = (name: string) => {
    const known = encoded.get(name)
    if (known !== undefined) return known
    const value = encode((Object.hasOwn(values, name) ? values[name] : undefined) ?? '')
    encoded.set(name, value)
    return value
  }
  return template.replace(TOKEN, (_token, name: string | undefined) => (name === undefined ? '{{' : encodedValue(name)))
}

/** Creates the expander of a request's templates: the values are made at the first template that has a token. */
export function createExpander(valuesOf: () => MacroValues): (template: string, encode: Encode) => string {
  let values: MacroValues | null = null
  return (template, encode) => {
    if (!template.includes(TOKEN_BEGIN)) return template
    values ??= valuesOf()
    return expandMacros(template, values, encode)
  }
}

/** The values that are present. */
export function presentValues(values: Readonly<Record<string, string | null | undefined>>): MacroValues {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value == null ? [] : [[name, value]])))
}

/**
 * The tokens of a template that are not known, each once as `{{inside}}`, malformed ones too. A `{{` without its end is text, and so
 * is the literal `{{{`.
 */
export function unknownTokens(template: string, isKnown: (name: string) => boolean): readonly string[] {
  const unknown = new Set<string>()
  let begin: number | null = null
  for (const { 0: braces, index } of template.matchAll(BRACES)) {
    if (braces === '}}' && begin !== null) {
      const name = template.slice(begin, index).trim()
      if (!isKnown(name)) unknown.add(`{{${name}}}`)
    }
    begin = braces === TOKEN_BEGIN ? index + braces.length : null
  }
  return [...unknown]
}
