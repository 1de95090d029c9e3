import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Bytes that sealing adds to a message. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES

/** The key of the messages from one process to another, 32 bytes: only who knows the platform's root can derive it. */
export type KeyBetween = (from: string, to: string) => Buffer

/** Path that takes commands. */
export const PATH = '/commands'
/** Headers of a request: who sends it, its number among the sender's, and the sealed proof that both and its length are true. */
export const HEADERS = { from: 'x-from', number: 'x-number', proof: 'x-proof' } as const

/** What the messages of one exchange are: each is sealed with its name, so that none is taken for another. */
export const MESSAGES = {
  proof: (number: number, length: number) => `proof ${number} ${length}`,
  commands: (number: number) => `commands ${number}`,
  answers: (number: number) => `answers ${number}`,
} as const

/** Encrypts a message: nonce, ciphertext and tag. */
export function sealMessage(key: Buffer, name: string, message: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name))
  return Buffer.concat([nonce, cipher.update(message, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a message. @throws Error when it was sealed under another key or name, or modified */
export function openMessage(key: Buffer, name: string, bytes: Buffer): string {
  if (bytes.length < SEAL_BYTES) throw new Error('A sealed message is longer.')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
}
