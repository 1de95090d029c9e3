import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto'
import type { Random } from '../ports/random.ts'
import type { Secrets } from '../ports/secrets.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Sealing by AES-256-GCM under a master key of 32 bytes: `<key id>.<nonce, tag and ciphertext in base64url>`. */
export function createSecrets(masterKey: Buffer, random: Random): Secrets {
  const keyId = createHash('sha256').update('key id').update(masterKey).digest('hex').slice(0, 8)
  return {
    mac: (purpose, text) =>
      createHmac('sha256', Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32)))
        .update(text)
        .digest('base64url'),
    seal(text) {
      const nonce = random.bytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `${keyId}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`
    },
    unseal(sealed) {
      const [id, body = ''] = sealed.split('.')
      if (id !== keyId) throw new Error(`Sealed under the key ${id}, and this process has ${keyId}.`)
      const bytes = Buffer.from(body, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', masterKey, bytes.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
      return text.toString('utf8')
    },
  }
}
