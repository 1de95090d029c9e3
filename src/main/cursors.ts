import { createCipheriv, createDecipheriv } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Cursors } from '../ports/api-headers.ts'
import { deriveKey } from './sealing.ts'

/** A cipher without a mode, which encrypts exactly one block. */
const CIPHER = 'aes-256-ecb'
const BLOCK_BYTES = 16
const PURPOSE = 'svc-position'
/** Cursors that are kept: responses of a moment are of few positions, and to encrypt one takes longer than to route a request. */
const MAX_KEPT = 1_000

/**
 * Cursors as one block of AES-256 in base64url: the position and eight zero bytes, under a key derived from the root.
 * A block that was not made here decrypts to such a block with a chance of 2⁻⁶⁴.
 */
export function createCursors(root: Buffer): Cursors {
  const key = deriveKey(root, PURPOSE)
  // Without a mode, blocks do not depend on each other: one cipher serves them all.
  const cipher = createCipheriv(CIPHER, key, null).setAutoPadding(false)
  const decipher = createDecipheriv(CIPHER, key, null).setAutoPadding(false)
  const kept = new LRUCache<number, string>({
    max: MAX_KEPT,
    memoMethod(position) {
      const block = Buffer.alloc(BLOCK_BYTES)
      block.writeBigInt64BE(BigInt(position))
      return cipher.update(block).toString('base64url')
    },
  })
  const write = (position: number) => kept.memo(position)
  return {
    write,
    read(cursor) {
      const sealed = Buffer.from(cursor, 'base64url')
      if (sealed.length !== BLOCK_BYTES) return undefined
      const position = Number(decipher.update(sealed).readBigInt64BE())
      return Number.isSafeInteger(position) && write(position) === cursor ? position : undefined
    },
  }
}
