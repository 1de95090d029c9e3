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

/** Cursors of the event log for clients: encrypted, so that they reveal nothing about the log and cannot be made up. */
export interface Cursors {
  /** The cursor of a log position; a position always has the same one. */
  write(position: number): string
  /** The position of a cursor; undefined for any text that `write` did not return. */
  read(cursor: string): number | undefined
}
