import { APIError } from 'telnyx'
import { v5 } from 'uuid'
import { CarrierRefused } from '../../ports/carrier-numbers.ts'
import { request } from './client.ts'
import { errorResponse } from './responses.ts'
import type { CompletedStep } from './session.ts'

/** How a command ended, and the leg that a dial created. */
export type StepOutcome = Pick<CompletedStep, 'outcome' | 'leg' | 'sentence'>

export const DONE: StepOutcome = { outcome: 'done', leg: null, sentence: null }

/** Error codes by which Telnyx says that a leg has ended, or never existed. */
const GONE: ReadonlySet<string> = new Set(['90018', '90015', '90053', '10005'])

/** Whether an error of Telnyx says that the leg does not exist any more. */
export function isGone(error: unknown): boolean {
  if (!(error instanceof APIError)) return false
  const { data } = errorResponse.safeParse(error.error)
  return error.status === 404 || (data?.errors.some(({ code }) => GONE.has(String(code))) ?? false)
}

/** The id of a session's command: always the same for the same step. */
export function commandIdOf(session: string, step: string): string {
  return v5(`${session} ${step}`, v5.URL)
}

/** Sends a command; `read` turns the response into its outcome. @throws CarrierUnavailable when it may be retried */
export async function runCommand(
  send: () => Promise<unknown>,
  read: (response: unknown) => StepOutcome = () => DONE,
): Promise<StepOutcome> {
  let gone = false
  const sendNotingGone = () =>
    send().catch((error: unknown) => {
      gone = isGone(error)
      throw error
    })
  try {
    return await request(sendNotingGone, read)
  } catch (error) {
    if (gone) return { outcome: 'gone', leg: null, sentence: null }
    if (error instanceof CarrierRefused) return { outcome: 'refused', leg: null, sentence: error.message }
    throw error
  }
}
