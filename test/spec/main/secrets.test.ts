import { hkdfSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { encrypt, keyIdOf } from '../../../src/main/sealing.ts'
import { createSecrets } from '../../../src/main/secrets.ts'
import {
  bidHeaderPlace,
  compatTokenPlace,
  idempotencyPlace,
  issuedSecretPlace,
  signingSecretPlace,
  sipHeaderPlace,
  sipPasswordPlace,
} from '../../../src/ports/sealed-places.ts'
import { createSeededRandom } from '../../support/memory/random.ts'

const random = createSeededRandom()
const root = Buffer.alloc(32, 1)
const secrets = createSecrets(root, random)
const place = bidHeaderPlace('w1', 't1', 'x-key')

/** A value as it was sealed before there was a root: under the master key, for no place. */
const firstFormat = (key: Buffer, text: string) => `${keyIdOf(key)}.${encrypt(key, Buffer.from(text), '', random)}`

describe('a sealed value', () => {
  it.each(['', 'secret', 'é'.repeat(1_000)])('opens at its place', (text) => {
    expect(secrets.unseal(secrets.seal(text, place), place)).toBe(text)
  })

  it.each([
    ['of another workspace', bidHeaderPlace('w2', 't1', 'x-key')],
    ['of another record', bidHeaderPlace('w1', 't2', 'x-key')],
    ['of another field', bidHeaderPlace('w1', 't1', 'x-other')],
    ['whose names only join to the same text', bidHeaderPlace('w1', 't1","x-key', '')],
    ['of a SIP password', sipPasswordPlace('w1', 't1')],
    ['of a token', compatTokenPlace('w1', 't1', 'x-key')],
    ['of a signing secret', signingSecretPlace('w1', 't1')],
    ['of a SIP header', sipHeaderPlace('t1', 'x-key')],
    ['of an outcome', idempotencyPlace('t1', 'outcome')],
    ['of an issued secret', issuedSecretPlace('t1')],
  ])('does not open at the place %s', (_, other) => {
    const sealed = secrets.seal('secret', place)
    expect(() => secrets.unseal(sealed, other)).toThrow()
  })

  it('does not open under another root, or modified', () => {
    const sealed = secrets.seal('secret', place)
    expect(() => createSecrets(Buffer.alloc(32, 2), random).unseal(sealed, place)).toThrow()
    const flipped = `${sealed.slice(0, -2)}${sealed.at(-2) === 'A' ? 'B' : 'A'}${sealed.at(-1)}`
    expect(() => secrets.unseal(flipped, place)).toThrow()
    expect(() => secrets.unseal('plain text', place)).toThrow()
  })

  it('of the first format opens where the root is its master key, and only there', () => {
    const sealed = firstFormat(root, 'secret')
    expect(secrets.unseal(sealed, place)).toBe('secret')
    expect(() => secrets.unseal(firstFormat(Buffer.alloc(32, 2), 'secret'), place)).toThrow(/Sealed under the key/)
  })
})

describe('what is derived', () => {
  it('is a key of its purpose, from the root alone', () => {
    const expected = Buffer.from(hkdfSync('sha256', root, '', 'sandbox-password\nw1', 32)).toString('base64url')
    expect(secrets.derive('sandbox-password\nw1')).toBe(expected)
    expect(createSecrets(Buffer.from(root), random).mac('number quote', 'text')).toBe(
      secrets.mac('number quote', 'text'),
    )
    expect(secrets.mac('number quote', 'text')).not.toBe(secrets.mac('other', 'text'))
  })
})
