const PROTO = '__proto__'

/** The key `__proto__` as objects hold it inside the platform: validation and drivers drop that key from objects. */
export const PROTO_KEY = '﹍proto﹍'

/** A client's own key as objects hold it. */
export function escapeKey(key: string): string {
  return key === PROTO ? PROTO_KEY : key
}

/** Fields with a client's own keys, as objects hold them. */
export function escapeKeys(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [escapeKey(key), value]))
}

/** A client's own key as it was sent. */
export function unescapeKey(key: string): string {
  return key === PROTO_KEY ? PROTO : key
}

/** Fields with a client's own keys, as they were sent. */
export function unescapeKeys<Value>(fields: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [unescapeKey(key), value]))
}
