/** Values of tokens, by `group.name`. */
export type MacroValues = Readonly<Record<string, string | undefined>>

const TOKEN = /\{\{\{|\{\{\s*([\w.-]+)\s*\}\}/g

/**
 * A template with its tokens replaced: `{{group.name}}` becomes its value, encoded for its place, or nothing without a value;
 * `{{{` becomes a literal `{{` (Document 2, "Pixels and macros").
 */
export function expandMacros(template: string, values: MacroValues, encode: (value: string) => string): string {
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
