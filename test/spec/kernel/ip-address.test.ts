import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  parseIpAddress,
  parseIpRange,
  rangesOverlap,
  singleAddress,
  sourceOf,
  unmap,
} from '../../../src/kernel/ip-address.ts'

describe('parseIpAddress', () => {
  test.each<[string, string | null]>([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.01', null],
    ['192.0.2.010', null],
    ['0x7f.0.0.1', null],
    ['127.1', null],
    ['2130706433', null],
    ['256.0.0.1', null],
    [' 192.0.2.1', null],
    ['192.0.2.1\n', null],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::ffff:192.0.2.1', '::ffff:c000:201'],
    ['::192.0.2.1', '::c000:201'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
    ['::ffff:0x7f.0.0.1', null],
    ['::ffff:192.0.2.01', null],
    ['::ffff:192.0.2', null],
    ['fe80::1%eth0', null],
    ['1:2:3:4:5:6:7:8:', null],
    ['1::2::3', null],
    ['1:2:3:4:5:6:7:8:9', null],
    ['12345::', null],
    ['::/0', null],
    ['', null],
    [':', null],
    ['localhost', null],
  ])('reads %j as %j', (text, address) => {
    expect(parseIpAddress(text)?.toString() ?? null).toBe(address)
  })

  test('accepts what Node accepts as an address without a zone, with the same value', () => {
    const group = fc.oneof(
      fc.constantFrom('', '0', '00ff', 'ffff', 'a', '10000', 'g', '01.2.3.4', '255.255.255.256', '0x1.2.3.4'),
      fc.nat(0xff_ff).map((value) => value.toString(16)),
      fc.ipV4(),
    )
    const side = fc.array(group, { maxLength: 4 }).map((groups) => groups.join(':'))
    const part = fc.constantFrom('0', '1', '9', '08', '255', '256', '0x1', '')
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.array(group, { minLength: 1, maxLength: 9 }).map((groups) => groups.join(':')),
      fc.tuple(side, side).map((sides) => sides.join('::')),
      fc.array(part, { maxLength: 5 }).map((parts) => parts.join('.')),
    )
    fc.assert(
      fc.property(text, (spelling) => {
        const address = parseIpAddress(spelling)
        expect(address?.kind() ?? null).toBe({ 0: null, 4: 'ipv4', 6: 'ipv6' }[isIP(spelling)])
        if (address?.kind() === 'ipv6') expect(`[${address}]`).toBe(new URL(`http://[${spelling}]`).hostname)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('parseIpRange', () => {
  test.each<[string, string | null]>([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.0.0.0/08', '10.0.0.0/8'],
    ['192.0.2.1', '192.0.2.1/32'],
    ['fd00::/8', 'fd00::/8'],
    ['::1', '::1/128'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['10.0.0.0/33', null],
    ['::/129', null],
    ['10.0.0.0/', null],
    ['10.0.0.0/-1', null],
    ['10.0.0.0/8/8', null],
    ['10.0.0.0/255.0.0.0', null],
    ['/8', null],
  ])('reads %j as %j', (text, range) => {
    const parsed = parseIpRange(text)
    expect(parsed && `${parsed.base}/${parsed.prefix}`).toBe(range)
  })
})

test.each([
  ['10.1.0.0/16', '10.0.0.0/8', true],
  ['10.0.0.0/8', '10.1.0.0/16', true],
  ['10.0.0.0/9', '10.128.0.0/9', false],
  ['0.0.0.0/0', '::/0', false],
  ['::ffff:10.0.0.1', '10.0.0.1', false],
  ['2001:db8::/33', '2001:db8:8000::/33', false],
  ['2001:db8::/32', '2001:db8:8000::/33', true],
])('ranges %s and %s overlap: %s', (one, other, overlap) => {
  const [first, second] = [parseIpRange(one), parseIpRange(other)]
  expect(first && second && rangesOverlap(first, second)).toBe(overlap)
})

test.each([
  ['::ffff:192.0.2.1', '192.0.2.1/32'],
  ['0:0:0:0:0:ffff:c000:201', '192.0.2.1/32'],
  ['::192.0.2.1', '::c000:201/128'],
  ['192.0.2.1', '192.0.2.1/32'],
])('%s unmapped is %s', (text, expected) => {
  const address = parseIpAddress(text)
  const range = address && singleAddress(unmap(address))
  expect(range && `${range.base}/${range.prefix}`).toBe(expected)
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['0:0:0:0:0:ffff:c000:201', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['fe80::2%eth1', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['', ''],
])('the source of a request from %s is %s', (text, source) => {
  expect(sourceOf(text)).toBe(source)
})
