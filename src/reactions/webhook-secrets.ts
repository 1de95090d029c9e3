import type { SecretRecord, Webhook } from '../domain/delivery/webhook.ts'
import { sha256 } from '../kernel/sha256.ts'
import { webhookHeaderPlace } from '../ports/sealed-places.ts'
import type { Secrets } from '../ports/secrets.ts'

/** Characters of a secret that its hint shows behind the prefix, and at its end. */
const SHOWN = 4
const PREFIX = 'whsec_'

/** The signing secret of an endpoint (Supplement §8): derived, so that only its hash and its version are stored. */
export function signingSecretOf({ derive }: Pick<Secrets, 'derive'>, webhookId: string, version: number): string {
  return `${PREFIX}${derive(`webhook secret\n${webhookId}\n${version}`)}`
}

/** What is stored of an endpoint's signing secret. */
export function secretRecordOf(secrets: Pick<Secrets, 'derive'>, webhookId: string, version: number): SecretRecord {
  const secret = signingSecretOf(secrets, webhookId, version)
  const hint = `${secret.slice(0, PREFIX.length + SHOWN)}…${secret.slice(-SHOWN)}`
  return { version, hash: sha256(secret), hint }
}

type Headers = Readonly<Record<string, string>>

const mapHeaders = (headers: Headers, change: (name: string, value: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(name, value)]))

/** The headers of an endpoint in plain text. @throws Error when one was sealed for another place, or modified */
export function openWebhookHeaders(
  { unseal }: Pick<Secrets, 'unseal'>,
  workspaceId: string,
  { id, headers }: Pick<Webhook, 'id' | 'headers'>,
): Headers {
  return mapHeaders(headers, (name, value) => unseal(value, webhookHeaderPlace(workspaceId, id, name)))
}

/** Headers sealed for an endpoint; an unchanged value keeps its present seal. */
export function sealWebhookHeaders(
  secrets: Pick<Secrets, 'seal' | 'unseal'>,
  workspaceId: string,
  webhookId: string,
  { sent, before }: { readonly sent: Headers; readonly before: Headers },
): Headers {
  return mapHeaders(sent, (name, value) => {
    const place = webhookHeaderPlace(workspaceId, webhookId, name)
    const old = Object.hasOwn(before, name) ? before[name] : undefined
    return old !== undefined && secrets.unseal(old, place) === value ? old : secrets.seal(value, place)
  })
}
