import { z } from 'zod'
import { purpose } from './session.ts'

/** What travels with a leg of ours and comes back with each of its webhooks: whose it is, and what it is for. */
const state = z.object({ session: z.string().regex(/^[\w:.-]{1,100}$/), purpose })
export type ClientState = Readonly<z.infer<typeof state>>

/** Written as Telnyx takes it: base64. */
export function clientState(of: ClientState): string {
  return Buffer.from(JSON.stringify(of)).toString('base64')
}

/** Read back; null where it is not ours. */
export function clientStateOf(text: string | null | undefined): ClientState | null {
  if (!text) return null
  try {
    return state.parse(JSON.parse(Buffer.from(text, 'base64').toString('utf8')))
  } catch {
    return null
  }
}
