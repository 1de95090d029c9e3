/** What tokens stand for, by `group.name`. */
export type MacroValues = Readonly<Record<string, string | undefined>>

const TOKEN = /\{\{\{|\{\{\s*([\w.-]+)\s*\}\}/g

/**
 * A template with its tokens filled in: `{{group.name}}` becomes its value, spelt for its place, and nothing where it has none;
 * `{{{` writes a literal `{{` (Document 2, "Pixels and macros").
 */
export function expandMacros(template: string, values: MacroValues, encode: (value: string) => string): string {
  return template.replace(TOKEN, (_token, name: string | undefined) =>
    name === undefined ? '{{' : encode((Object.hasOwn(values, name) ? values[name] : undefined) ?? ''),
  )
}
