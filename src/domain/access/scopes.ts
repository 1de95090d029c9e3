/** Scopes that can be put on an API key (Document 1, "Authentication"; `calls:write` by Supplement §2). */
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

/** Scopes that come with another and cannot be named on a key. */
const implied: Readonly<Record<string, readonly string[]>> = {
  'blocklist:write': ['blocklist:read'],
}

/** Whether the scopes on a key cover the one that a route asks for. */
export function hasScope(held: readonly string[], required: string): boolean {
  return held.includes(required) || held.some((scope) => implied[scope]?.includes(required) === true)
}
