/** Values of tokens, by `group.name`. */
export type MacroValues = Readonly<Record<string, string | undefined>>

const TOKEN = /\{\{\{|\{\{\s*([\w.-]+)\s*\}\}/g

/**
 * A template with its tokens replaced: `{{group.name}}` becomes its value, encoded for its place, or nothing without a value;
 * `{{{` becomes a literal `{{` (Document 2, "Pixels and macros").
 */
export function expandMacros(template: string, values: MacroValues, encode: (value: string) => string): string {
  return template.replace(TOKEN, (_token, name: string | undefined) =>
    name === undefined ? '{{' : encode((Object.hasOwn(values, name) ? values[name] : undefined) ?? ''),
  )
}
