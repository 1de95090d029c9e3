import { describe, expect, it } from 'vitest'
import { quoteOf, quoteToken } from '../../src/api/number-quotes.ts'
import { NUMBER_ORDER } from '../../src/domain/shared/limits.ts'
import { createSecrets } from '../../src/main/secrets.ts'
import { idOf, NOW, WORKSPACE } from '../support/fixtures/spec.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const secretsOf = (key: number) => createSecrets(Buffer.alloc(32, key), createSeededRandom(key))
const secrets = secretsOf(1)
const e164 = '+14155550188'
const terms = {
  e164,
  type: 'local' as const,
  region: 'CA',
  locality: null,
  setupCents: 100,
  monthlyCents: 250,
  userId: idOf(1),
  workspaceId: WORKSPACE,
}
const token = quoteToken(secrets, terms, NOW)
const requests = { e164, userId: idOf(1), workspaceId: WORKSPACE, now: NOW }
const read = (more: object = {}, sent = token) => quoteOf(secrets, sent, { ...requests, ...more })
const after = (ms: number) => new Date(Date.parse(NOW) + NUMBER_ORDER.quoteMinutes * 60_000 + ms).toISOString()

describe('a quote', () => {
  it('gives its terms back to whom it was made for, for fifteen minutes', () => {
    expect(NUMBER_ORDER.quoteMinutes).toBe(15)
    expect(read()).toMatchObject(terms)
    expect(read({ now: after(-1) })).toMatchObject(terms)
    expect(read({ now: after(0) })).toBe('expired')
  })

  it('is of one number, one user and one workspace', () => {
    expect(read({ e164: '+14155550189' })).toBe('other-number')
    expect(read({ userId: idOf(2) })).toBe('unknown')
    expect(read({ workspaceId: idOf(3) })).toBe('unknown')
  })

  it('cannot be made up, changed or cut', () => {
    const [text = '', mac = ''] = token.split('.')
    const cheaper = Buffer.from(JSON.stringify({ ...terms, setupCents: 0, expiresAt: after(0) })).toString('base64url')
    for (const forged of [
      '',
      '.',
      text,
      `${text}.`,
      `${cheaper}.${mac}`,
      `${text}.${mac}x`,
      `${token}.`,
      `.${mac}`,
      'é.ü',
    ]) {
      expect(read({}, forged), forged).toBe('unknown')
    }
    expect(quoteOf(secretsOf(2), token, requests)).toBe('unknown')
  })

  it('is unlike any other proof of the same key', () => {
    expect(secrets.mac('one', 'text')).not.toBe(secrets.mac('other', 'text'))
  })
})
