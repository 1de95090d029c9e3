import { expect, test } from 'vitest'
import { biddersTime, createAnswerReserve } from '../../../src/domain/auctions/answer-reserve.ts'
import { budgetLeft } from '../../../src/domain/auctions/decide-auction.ts'
import { NOW } from '../../support/fixtures/spec.ts'

const START = Date.parse(NOW)

test('a reserve is four times the longest time that was seen, and half of that five seconds later', () => {
  const reserve = createAnswerReserve()
  expect(reserve.at(START)).toBe(0)
  reserve.note(100, START)
  reserve.note(40, START)
  expect([0, 5_000, 10_000].map((ms) => reserve.at(START + ms))).toEqual([400, 200, 100])
})

test('a time that is longer than what is left of the longest takes its place, an auction that was in time does not', () => {
  const reserve = createAnswerReserve()
  reserve.note(100, START)
  reserve.note(60, START + 5_000)
  expect(reserve.at(START + 5_000)).toBe(240)
  reserve.note(-700, START + 5_000)
  reserve.note(Number.NEGATIVE_INFINITY, START + 5_000)
  expect(reserve.at(START + 5_000)).toBe(240)
})

test('an outage is forgotten as soon as a long delay', () => {
  const reserve = createAnswerReserve()
  reserve.note(625, START)
  expect(reserve.at(START)).toBe(2_500)
  reserve.note(60_000, START)
  expect(reserve.at(START)).toBe(2_500)
})

test('of a time budget 250 ms are kept for the answer, of a small one a quarter, and what answers have taken, up to half of it', () => {
  const left = (tmaxMs: number, elapsedMs: number, reserveMs?: number) =>
    budgetLeft({ occurredAt: NOW, tmaxMs }, START + elapsedMs, reserveMs)
  expect([left(1_000, 0), left(400, 0), left(1_000, 300), left(1_000, 751)]).toEqual([750, 300, 450, 0])
  expect([250, 251, 500, 501].map((reserveMs) => left(1_000, 0, reserveMs))).toEqual([750, 749, 500, 500])
})

test('bidders get what is left, and are not asked where that is less than a quarter of their time', () => {
  expect([751, 750, 188, 187, 0].map((leftMs) => biddersTime(750, leftMs))).toEqual([750, 750, 188, 0, 0])
  expect(biddersTime(0, 0)).toBe(0)
})
