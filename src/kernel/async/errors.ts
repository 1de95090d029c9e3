/** A dependency (log, store, carrier) cannot be reached or did not answer. Trying again later is right, however often. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable'
}

/** Whether an error says that a dependency cannot be reached. */
export function isUnavailable(error: unknown): error is Unavailable {
  return error instanceof Unavailable
}

/** Name and message of an error, for a status or a log line. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
