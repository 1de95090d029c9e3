import { expect, it } from 'vitest'
import {
  APPENDS,
  CONFLICTS,
  createDisputes,
  LASTS_MS,
  WITHIN_MS,
} from '../../../../../src/runtime/write/forwarding/disputes.ts'
import { createManualClock } from '../../../../support/memory/clock.ts'

/** Disputes after appends to streams of one id, so many milliseconds apart, of which `x` met a conflict. */
async function after(appends: string, apart = 0) {
  const clock = createManualClock()
  const disputes = createDisputes(clock)
  for (const [n, append] of [...appends].entries()) {
    if (n > 0) await clock.jump(apart)
    disputes.recordAppend(n % 2 === 0 ? 'ledger-00-a' : 'wallet-00-a', append === 'x')
  }
  return { clock, disputes }
}

const enough = 'x'.repeat(CONFLICTS)
const between = '.'.repeat(APPENDS - CONFLICTS)

it.each([
  ['no conflict', '.'.repeat(APPENDS * 3), 0, false],
  ['one conflict too few', enough.slice(1), 0, false],
  ['enough conflicts at once', enough, 0, true],
  ['enough conflicts with as many appends between as may be', `${enough.slice(1)}${between}x`, 0, true],
  ['enough conflicts with one append more between', `${enough.slice(1)}${between}.x`, 0, false],
  ['conflicts at a slow pace', enough, WITHIN_MS / CONFLICTS, true],
  ['conflicts that are further apart', enough.repeat(3), WITHIN_MS / (CONFLICTS - 1), false],
])('%s: disputed %#', async (_what, appends, apart, isDisputed) => {
  const { disputes } = await after(appends, apart)
  expect(disputes.isDisputed('a')).toBe(isDisputed)
  expect(disputes.any()).toBe(isDisputed)
})

it('concerns all streams of one id, whichever conflict, and ends some time after its last conflict', async () => {
  const { clock, disputes } = await after(enough)
  expect(disputes.isDisputed('b')).toBe(false)
  await clock.jump(LASTS_MS - 1)
  disputes.recordAppend('ledger-00-a', false)
  expect(disputes.isDisputed('a')).toBe(true)
  disputes.recordAppend('ledger-00-a', true)
  await clock.jump(LASTS_MS - 1)
  expect(disputes.isDisputed('a')).toBe(true)
  await clock.jump(1)
  expect([disputes.isDisputed('a'), disputes.any()]).toEqual([false, false])
})
