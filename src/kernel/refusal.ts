/** Details of a refusal, as in the error envelope; null for none. */
export type RefusalDetails = Readonly<Record<string, unknown>> | null

/**
 * A rule said no. A value, never thrown: the edge maps `code` to status and wire code in one table
 * (`adapters/http/refusals.ts`), and OpenAPI lists the codes that a command or query declares.
 */
export interface Refusal<Code extends string = string> {
  readonly refused: Code
  readonly message: string | null
  readonly details: RefusalDetails
}

/** Creates a refusal. `message` is a sentence for a person; null takes the sentence of the table. */
export function refuse<const Code extends string>(
  code: Code,
  details: RefusalDetails = null,
  message: string | null = null,
): Refusal<Code> {
  return { refused: code, message, details }
}

/** Whether an outcome is a refusal. */
export function isRefusal(outcome: unknown): outcome is Refusal {
  return typeof outcome === 'object' && outcome !== null && 'refused' in outcome
}
