import { createHmac, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { WorkspaceState } from '../../domain/configuration/workspace.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { PING } from '../../domain/shared/limits.ts'
import { isLiveKey, type RoutingKey } from '../../domain/supply/routing-key.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { signingSecretPlace } from '../../ports/sealed-places.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { StreamWriter } from '../../runtime/write/stream-writer.ts'
import { secretHash } from '../secret-hash.ts'

/** Where the key of a secret is configured. */
export interface PublisherKeyPlace {
  readonly workspaceId: string
  readonly keyId: string
}

/** A publisher's key that works, with the configuration that it belongs to. */
export interface PublisherKey {
  readonly workspaceId: string
  readonly key: RoutingKey
  readonly configured: WorkspaceState
}

/** Finds publishers' keys by their secrets. Every method throws StoreUnavailable and LogUnavailable. */
export interface PublisherKeys {
  readonly byBearer: (bearer: string | null) => Promise<PublisherKey | Refusal<'missing-key' | 'invalid-key'>>
  readonly byCompatToken: (token: string) => Promise<PublisherKey | Refusal<'not-found'>>
  /** Refuses a request of a key that requires a signature, unless it has a valid one over the raw bytes. */
  readonly checkSignature: (
    found: PublisherKey,
    signature: string | null,
    body: Uint8Array,
  ) => Refusal<'invalid-signature'> | null
}

const MISSING = 'This route takes a routing key. No key was sent: send Authorization: Bearer <ROUTING_KEY>.'
const INVALID = 'This route takes a routing key. The key is malformed, unknown or revoked.'

/** Secrets whose place a process remembers: it never changes. */
const MAX_PLACES = 10_000

const SIGNATURE_PART = /^\s*(t|v1)=(\S+?)\s*$/

/** The parts of a signature header, in any order. */
function signatureParts(header: string): ReadonlyMap<string, string> {
  const parts = header.split(',').map((part) => SIGNATURE_PART.exec(part))
  return new Map(parts.flatMap((part) => (part?.[1] && part[2] ? [[part[1], part[2]] as const] : [])))
}

function isSignatureValid(secret: string, header: string, body: Uint8Array, nowMs: number): boolean {
  const parts = signatureParts(header)
  const [t, v1] = [parts.get('t'), parts.get('v1')]
  if (t === undefined || v1 === undefined || !/^\d{1,12}$/.test(t) || !/^[0-9a-f]{64}$/.test(v1)) return false
  if (Math.abs(nowMs / 1_000 - Number(t)) > PING.signatureSeconds) return false
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(v1, 'hex'))
}

/** Creates the finder of publishers' keys. */
export function createPublisherKeys({
  find,
  writer,
  secrets,
  clock,
}: {
  /** The key of a secret or token, by its SHA-256. @throws StoreUnavailable */
  readonly find: (hash: string) => Promise<PublisherKeyPlace | null>
  readonly writer: Pick<StreamWriter, 'recentStateOf'>
  readonly secrets: Pick<Secrets, 'unseal'>
  readonly clock: Clock
}): PublisherKeys {
  const places = new LRUCache<string, PublisherKeyPlace>({ max: MAX_PLACES })
  const opened = new LRUCache<string, string>({ max: MAX_PLACES })

  /** The key of a secret, whether or not it works. Made-up secrets are not remembered. */
  async function keyOf(hash: string): Promise<PublisherKey | null> {
    const place = places.get(hash) ?? (await find(hash))
    if (place === null) return null
    places.set(hash, place)
    const configured = await writer.recentStateOf(workspace, place.workspaceId, PING.foldAgeMs)
    const key = configured.routingKeys.get(place.keyId)
    return key && isLiveKey(key) ? { workspaceId: place.workspaceId, key, configured } : null
  }

  return {
    async byBearer(bearer) {
      if (bearer === null) return refuse('missing-key', null, MISSING)
      const hash = secretHash(bearer)
      const found = await keyOf(hash)
      const now = new Date(clock.now()).toISOString()
      const isValid = found?.key.secrets.some(
        (secret) => secret.hash === hash && (secret.expiresAt === null || now < secret.expiresAt),
      )
      return found && isValid ? found : refuse('invalid-key', null, INVALID)
    },
    async byCompatToken(token) {
      const hash = secretHash(token)
      const found = await keyOf(hash)
      return found?.key.compat?.hash === hash ? found : refuse('not-found', null, 'This ping URL is not in use.')
    },
    checkSignature({ workspaceId, key: { id, requireSignature, signing } }, signature, body) {
      if (!requireSignature) return null
      if (signing === null || signature === null) return refuse('invalid-signature')
      const secret = opened.get(signing) ?? secrets.unseal(signing, signingSecretPlace(workspaceId, id))
      opened.set(signing, secret)
      return isSignatureValid(secret, signature, body, clock.now()) ? null : refuse('invalid-signature')
    },
  }
}
