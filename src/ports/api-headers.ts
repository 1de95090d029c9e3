/** Names of the platform's own headers, in lower case. */
export const headerNames = {
  requestId: 'svc-request-id',
  position: 'svc-position',
  minPosition: 'svc-min-position',
  idempotencyKey: 'idempotency-key',
  idempotentReplay: 'svc-idempotent-replay',
  readLag: 'svc-read-lag',
  ignoredParameters: 'svc-ignored-parameters',
} as const

/** Encodes a log position as an opaque cursor for clients: base64url. */
export function cursorOf(position: number): string {
  return Buffer.from(String(position)).toString('base64url')
}

/** Decodes a cursor of `cursorOf`; undefined for any other text. */
export function parseCursor(cursor: string): number | undefined {
  const position = Number(Buffer.from(cursor, 'base64url').toString())
  return Number.isSafeInteger(position) && cursorOf(position) === cursor ? position : undefined
}
