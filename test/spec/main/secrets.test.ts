import { hkdfSync } from 'node:crypto'
import { describe, expect, it, test } from 'vitest'
import { createSecrets } from '../../../src/main/secrets.ts'
import { sealHeaders, unsealHeaders } from '../../../src/ports/sealed-headers.ts'
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

describe('a sealed value', () => {
  it.each(['', 'secret', 'é'.repeat(1_000)])('opens at its place', (text) => {
    expect(secrets.unseal(secrets.seal(text, place), place)).toBe(text)
  })

  it.each([
    ['of another workspace', bidHeaderPlace('w2', 't1', 'x-key')],
    ['of another record', bidHeaderPlace('w1', 't2', 'x-key')],
    ['of another field', bidHeaderPlace('w1', 't1', 'x-other')],
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

  it.each([
    ['a SIP password', 'workspace', sipPasswordPlace('w1', 't1'), sipPasswordPlace('w2', 't1')],
    ['a SIP password', 'target', sipPasswordPlace('w1', 't1'), sipPasswordPlace('w1', 't2')],
    ['a token', 'workspace', compatTokenPlace('w1', 'c1', 'p1'), compatTokenPlace('w2', 'c1', 'p1')],
    ['a token', 'campaign', compatTokenPlace('w1', 'c1', 'p1'), compatTokenPlace('w1', 'c2', 'p1')],
    ['a token', 'publisher', compatTokenPlace('w1', 'c1', 'p1'), compatTokenPlace('w1', 'c1', 'p2')],
    ['a signing secret', 'workspace', signingSecretPlace('w1', 'k1'), signingSecretPlace('w2', 'k1')],
    ['a signing secret', 'key', signingSecretPlace('w1', 'k1'), signingSecretPlace('w1', 'k2')],
    ['a SIP header', 'call', sipHeaderPlace('call1', 'x-key'), sipHeaderPlace('call2', 'x-key')],
    ['a SIP header', 'name', sipHeaderPlace('call1', 'x-key'), sipHeaderPlace('call1', 'x-other')],
    ['an outcome', 'entry', idempotencyPlace('e1', 'outcome'), idempotencyPlace('e2', 'outcome')],
    ['an outcome', 'field', idempotencyPlace('e1', 'outcome'), idempotencyPlace('e1', 'request')],
    ['an issued secret', 'entry', issuedSecretPlace('e1'), issuedSecretPlace('e2')],
  ])('that is %s does not open at a place with another %s', (_kind, _part, own, other) => {
    const sealed = secrets.seal('secret', own)
    expect(secrets.unseal(sealed, own)).toBe('secret')
    expect(() => secrets.unseal(sealed, other)).toThrow()
  })

  it.each(['', ' ', ',', '/', ':', '|', '\n', '\0', '","'])(
    'does not open at a place whose names, joined by %j, read the same',
    (joint) => {
      const sealed = secrets.seal('secret', bidHeaderPlace('w1', `t${joint}x`, 'key'))
      expect(() => secrets.unseal(sealed, bidHeaderPlace('w1', 't', `x${joint}key`))).toThrow()
    },
  )

  it('does not open under another root, or modified', () => {
    const sealed = secrets.seal('secret', place)
    expect(() => createSecrets(Buffer.alloc(32, 2), random).unseal(sealed, place)).toThrow()
    const flipped = `${sealed.slice(0, -2)}${sealed.at(-2) === 'A' ? 'B' : 'A'}${sealed.at(-1)}`
    expect(() => secrets.unseal(flipped, place)).toThrow()
    expect(() => secrets.unseal('plain text', place)).toThrow()
  })
})

test('the SIP headers of a call open for that call alone, each under its own name', () => {
  const headers = { 'x-key': 'secret', 'x-other': 'plain' }
  const sealed = sealHeaders(headers, 'call1', secrets)
  expect(unsealHeaders(sealed, 'call1', secrets)).toEqual(headers)
  expect(() => unsealHeaders(sealed, 'call2', secrets)).toThrow()
  expect(() => unsealHeaders({ 'x-other': sealed['x-key'] ?? '' }, 'call1', secrets)).toThrow()
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
