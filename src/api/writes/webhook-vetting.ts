import { endpointProblems, vettedUrl } from '../../domain/delivery/endpoint-problems.ts'
import type { Webhook } from '../../domain/delivery/webhook.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { WriteContext } from './write-context.ts'

/** How long the look-up of a host name may take (ms) while a client waits. */
const VET_MS = 5_000

/** The settings of an endpoint that are judged, with its header values in plain text. */
export type JudgedSettings = Pick<Webhook, 'kind' | 'method' | 'url' | 'headers' | 'bodyTemplate'>

/** Refuses settings that could never be sent, and a URL that the rules for addresses reject; null for any other. */
export async function refuseSettings(
  { tools: { egress, httpsOnly }, ownSandbox }: { readonly tools: WriteContext['tools']; readonly ownSandbox: boolean },
  settings: JudgedSettings,
): Promise<Refusal<'bad-request' | 'unsafe-url'> | null> {
  const problems = endpointProblems(settings)
  if (problems) return refuse('bad-request', problems)
  const broken = await egress.vet({ url: vettedUrl(settings), httpsOnly, ownSandbox, timeoutMs: VET_MS })
  return broken && refuse('unsafe-url', { rule: broken.rule }, broken.sentence)
}
