/** Scopes that an API key can have (Document 1, "Authentication"; `calls:write` by Supplement §2). */
export const scopes = [
  'numbers:read',
  'blocklist:write',
  'buyers:read',
  'publishers:read',
  'campaigns:read',
  'campaigns:write',
  'targets:read',
  'targets:write',
  'calls:read',
  'calls:write',
  'pings:read',
  'reports:read',
] as const

export type Scope = (typeof scopes)[number]

/** Scopes that another scope includes; a key cannot name them. */
const implied: Readonly<Record<string, readonly string[]>> = {
  'blocklist:write': ['blocklist:read'],
}

/** Whether the scopes of a key include the one that a route requires. */
export function hasScope(held: readonly string[], required: string): boolean {
  return held.includes(required) || held.some((scope) => implied[scope]?.includes(required) === true)
}
