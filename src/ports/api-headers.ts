/** Names of the headers that are ours. */
export const headerNames = {
  requestId: 'svc-request-id',
  position: 'svc-position',
  minPosition: 'svc-min-position',
  idempotencyKey: 'idempotency-key',
  idempotentReplay: 'svc-idempotent-replay',
  readLag: 'svc-read-lag',
} as const

/** Writes a log position as clients see it: opaque. */
export function cursorOf(position: number): string {
  return Buffer.from(String(position)).toString('base64url')
}

/** Reads back what `cursorOf` wrote; undefined for anything else. */
export function positionOf(cursor: string): number | undefined {
  const position = Number(Buffer.from(cursor, 'base64url').toString())
  return Number.isSafeInteger(position) && cursorOf(position) === cursor ? position : undefined
}
