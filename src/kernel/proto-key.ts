const PROTO = '__proto__'

/** The key `__proto__` as objects hold it inside the platform: validation and drivers drop that key from objects. */
export const PROTO_KEY = '﹍proto﹍'

/** A client's own key as objects hold it. */
export function escapeKey(key: string): string {
  return key === PROTO ? PROTO_KEY : key
}

/** A client's own key as it was sent. */
export function unescapeKey(key: string): string {
  return key === PROTO_KEY ? PROTO : key
}
