import { expect, test } from 'vitest'
import { errorMessage, isUnavailable } from '../../../../src/kernel/async/errors.ts'
import { CarrierRefused, CarrierUnavailable } from '../../../../src/ports/carrier-numbers.ts'
import { LogUnavailable } from '../../../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../../../src/ports/read-store.ts'

test('log, store and carrier can be unavailable; a refusal of the carrier is final', () => {
  for (const error of [new LogUnavailable('x'), new StoreUnavailable('x'), new CarrierUnavailable('x')]) {
    expect(isUnavailable(error)).toBe(true)
  }
  for (const error of [new CarrierRefused('x'), new Error('x'), null]) expect(isUnavailable(error)).toBe(false)
})

test('an error message names the kind of error', () => {
  expect(errorMessage(new StoreUnavailable('no answer'))).toBe('StoreUnavailable: no answer')
  expect(errorMessage('a text')).toBe('a text')
})
