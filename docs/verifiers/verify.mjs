// Usage: node verify.mjs <secret> <svc-signature header> < body
import { createHmac, timingSafeEqual } from 'node:crypto'
import { buffer } from 'node:stream/consumers'

function fail(reason) {
  console.error(reason)
  process.exit(1)
}
const [secret = '', header = ''] = process.argv.slice(2)
const { t = '', v1 = '' } = Object.fromEntries(header.split(',').map((part) => part.trim().split('=')))
const now = Number(process.env.NOW || Date.now() / 1000)
const signed = Buffer.concat([Buffer.from(`${t}.`), await buffer(process.stdin)])
const expected = createHmac('sha256', secret).update(signed).digest()
if (!/^\d{1,12}$/.test(t) || !/^[0-9a-f]{64}$/.test(v1)) fail('the header has no t or no v1')
if (Math.abs(now - Number(t)) > 300) fail('t is more than five minutes away')
if (!timingSafeEqual(expected, Buffer.from(v1, 'hex'))) fail('the signature is of another secret or body')
console.log('ok')
