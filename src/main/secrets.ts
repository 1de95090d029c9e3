import { createHmac } from 'node:crypto'
import type { Random } from '../ports/random.ts'
import type { Place, Secrets } from '../ports/secrets.ts'
import { decrypt, deriveKey, encrypt, keyIdOf } from './sealing.ts'

/** Begins a sealed value. Those of the first format begin with a key id instead. */
const FORMAT = 'v2'
const FIRST_FORMAT = /^[0-9a-f]{8}\.[\w-]{38,}$/

/** The associated data of a place. */
const placeText = ({ path }: Place) => JSON.stringify(path)

/** Whether a stored text looks like a value of the first format, which was sealed under the master key itself and bound to no place. */
export function isFirstFormat(text: string): boolean {
  return FIRST_FORMAT.test(text)
}

/** Opens a value of the first format. @throws Error when it was sealed under another key, or modified */
export function unsealFirstFormat(key: Buffer, sealed: string): string {
  const [id, body = ''] = sealed.split('.')
  if (id !== keyIdOf(key)) throw new Error(`Sealed under the key ${id}, and this process has ${keyIdOf(key)}.`)
  return decrypt(key, body, '').toString('utf8')
}

/**
 * Seals by AES-256-GCM: `v2.<nonce, tag and ciphertext in base64url>`, under a key derived from the root for the purpose, with
 * the place as associated data. Values of the first format open if the root is the master key that they were sealed under.
 */
export function createSecrets(root: Buffer, random: Pick<Random, 'bytes'>): Secrets {
  const keys = new Map<string, Buffer>()
  const keyOf = (purpose: string) => {
    const key = keys.get(purpose) ?? deriveKey(root, `seal ${purpose}`)
    keys.set(purpose, key)
    return key
  }
  return {
    seal: (text, place) => `${FORMAT}.${encrypt(keyOf(place.purpose), Buffer.from(text), placeText(place), random)}`,
    unseal(sealed, place) {
      const [format, body = ''] = sealed.split('.')
      if (format !== FORMAT) return unsealFirstFormat(root, sealed)
      return decrypt(keyOf(place.purpose), body, placeText(place)).toString('utf8')
    },
    mac: (purpose, text) => createHmac('sha256', deriveKey(root, purpose)).update(text).digest('base64url'),
    derive: (purpose) => deriveKey(root, purpose).toString('base64url'),
  }
}
