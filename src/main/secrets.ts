import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Random } from '../ports/random.ts'
import type { Place, Secrets } from '../ports/secrets.ts'
import { decrypt, deriveKey, encrypt } from './sealing.ts'

/** Begins a sealed value. */
const FORMAT = 'v2'

/** Keys of purposes that a process remembers. */
const MAX_MAC_KEYS = 1_000

/** The associated data of a place. */
const placeText = ({ path }: Place) => JSON.stringify(path)

/**
 * Seals by AES-256-GCM: `v2.<nonce, tag and ciphertext in base64url>`, under a key derived from the root for the purpose, with
 * the place as associated data.
 */
export function createSecrets(root: Buffer, random: Pick<Random, 'bytes'>): Secrets {
  const keys = new Map<string, Buffer>()
  // Purposes may name workspaces, so they are many.
  const macKeys = new LRUCache<string, KeyObject>({
    max: MAX_MAC_KEYS,
    memoMethod: (purpose) => createSecretKey(deriveKey(root, purpose)),
  })
  const keyOf = (purpose: string) => {
    const key = keys.get(purpose) ?? deriveKey(root, `seal ${purpose}`)
    keys.set(purpose, key)
    return key
  }
  return {
    seal: (text, place) => `${FORMAT}.${encrypt(keyOf(place.purpose), Buffer.from(text), placeText(place), random)}`,
    unseal(sealed, place) {
      const [format, body = ''] = sealed.split('.')
      if (format !== FORMAT) throw new Error(`A sealed value has the format ${format}, not ${FORMAT}.`)
      return decrypt(keyOf(place.purpose), body, placeText(place)).toString('utf8')
    },
    mac(purpose, text) {
      return createHmac('sha256', macKeys.memo(purpose)).update(text).digest('base64url')
    },
    derive: (purpose) => deriveKey(root, purpose).toString('base64url'),
  }
}
