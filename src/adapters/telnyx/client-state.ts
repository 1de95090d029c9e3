import { z } from 'zod'
import { purpose } from './session.ts'

/** The state that we attach to a leg; Telnyx returns it with each webhook of the leg. */
const state = z.object({ session: z.string().regex(/^[\w:.-]{1,100}$/), purpose })
export type ClientState = Readonly<z.infer<typeof state>>

/** Encodes a client state as base64, as Telnyx requires. */
export function clientState(of: ClientState): string {
  return Buffer.from(JSON.stringify(of)).toString('base64')
}

/** Decodes a client state; null when it is not one of ours. */
export function clientStateOf(text: string | null | undefined): ClientState | null {
  if (!text) return null
  try {
    return state.parse(JSON.parse(Buffer.from(text, 'base64').toString('utf8')))
  } catch {
    return null
  }
}
