import { expect, it, test } from 'vitest'
import { createTextMask, shownNumber } from '../../../src/domain/auctions/mask-caller.ts'

const caller = '+13105550100'
const hidden = { caller, isDisclosed: false }

test.each([
  ['+13105550100', '•••0100'],
  ['13105550100', '•••0100'],
  ['3105550100', '•••0100'],
  ['(310) 555-0100', '•••0100'],
  ['+1 (310) 555-0100', '•••0100'],
  ['{"callerNumber":"310.555.0100"}', '{"callerNumber":"•••0100"}'],
  ['CID=%2B13105550100&zip=90001', 'CID=•••0100&zip=90001'],
  ['3105550101', '3105550101'],
  ['rk_abcdefghijklmnop', 'rk_•••'],
  ['{"password": "pw 1", "note": "x"}', '{"password": "•••", "note": "x"}'],
  ['api_key=abc&zip=90001', 'api_key=•••&zip=90001'],
  [`${'x'.repeat(100)}_token=abc&zip=90001`, `${'x'.repeat(100)}_token=•••&zip=90001`],
  [`secret=${'x'.repeat(5_000)}&zip=90001`, 'secret=•••&zip=90001'],
  ['zip"token=abc"', 'zip"token=•••"'],
  ['zip"token":"abc"', 'zip"token":"•••"'],
])('the text %j reads %j', (text, masked) => {
  expect(createTextMask(hidden)(text)).toBe(masked)
})

it('shows a disclosed caller, and no credential of whoever', () => {
  expect(createTextMask({ caller, isDisclosed: true })(`${caller} rk_abcdefghijkl`)).toBe(`${caller} rk_•••`)
  expect(createTextMask({ caller: null, isDisclosed: false })('310 555 0100 pk_abcdefghijkl')).toBe(
    '310 555 0100 pk_•••',
  )
})

test.each([
  [{ caller, isDisclosed: false }, '•••0100'],
  [{ caller, isDisclosed: true }, caller],
  [{ caller: null, isDisclosed: false }, null],
])('of %j the ledger shows %j', (shown, text) => {
  expect(shownNumber(shown)).toBe(text)
})

it('masks a number of another country', () => {
  const german = createTextMask({ caller: '+4930123456', isDisclosed: false })
  expect(german('+4930123456 and 49 30 123456')).toBe('•••3456 and •••3456')
})
