import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { NUMBER_ORDER } from '../domain/shared/limits.ts'
import { orderedNumber } from '../domain/supply/number-order.ts'
import { addMs } from '../kernel/instant.ts'
import { id, instant } from '../kernel/wire.ts'
import type { Secrets } from '../ports/secrets.ts'

/** What a quote promises, to whom, and until when. */
const quote = z.object({ ...orderedNumber.shape, userId: id.nullable(), workspaceId: id, expiresAt: instant })
export type Quote = Readonly<z.infer<typeof quote>>

/** Why a token is worth nothing here. */
export type QuoteProblem = 'unknown' | 'expired' | 'other-number'

const PURPOSE = 'number quote'

/** The token of a quote made now: its terms and their proof. Nothing of it is stored. */
export function quoteToken(secrets: Pick<Secrets, 'mac'>, terms: Omit<Quote, 'expiresAt'>, now: string): string {
  const expiresAt = addMs(now, NUMBER_ORDER.quoteMinutes * 60_000)
  const text = Buffer.from(JSON.stringify({ ...terms, expiresAt })).toString('base64url')
  return `${text}.${secrets.mac(PURPOSE, text)}`
}

function proves(secrets: Pick<Secrets, 'mac'>, text: string, mac: string): boolean {
  const [sent, made] = [Buffer.from(mac), Buffer.from(secrets.mac(PURPOSE, text))]
  return sent.length === made.length && timingSafeEqual(sent, made)
}

/** The quote of a token, when it was issued to the orderer for that number and has not expired; otherwise the problem. */
export function quoteOf(
  secrets: Pick<Secrets, 'mac'>,
  token: string,
  order: { readonly e164: string; readonly userId: string | null; readonly workspaceId: string; readonly now: string },
): Quote | QuoteProblem {
  const [text = '', mac = '', ...more] = token.split('.')
  if (more.length > 0 || !proves(secrets, text, mac)) return 'unknown'
  const terms = quote.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  if (terms.userId !== order.userId || terms.workspaceId !== order.workspaceId) return 'unknown'
  if (terms.e164 !== order.e164) return 'other-number'
  return terms.expiresAt > order.now ? terms : 'expired'
}
