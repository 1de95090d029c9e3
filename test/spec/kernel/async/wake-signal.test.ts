import { describe, expect, test } from 'vitest'
import { createWakeSignal } from '../../../../src/kernel/async/wake-signal.ts'
import { createManualClock, flushEventLoop } from '../../../support/memory/clock.ts'

/** A wake signal, and how often its waits have ended. */
function fixture() {
  const clock = createManualClock()
  const stop = new AbortController()
  const signal = createWakeSignal(clock, stop.signal)
  let ended = 0
  const wait = (inMs: number | null) =>
    void signal.wait(inMs === null ? null : clock.now() + inMs).then(() => {
      ended += 1
    })
  return { clock, stop, signal, wait, ended: () => ended }
}

describe('a wake signal', () => {
  test('ends a wait at its instant', async () => {
    const { clock, wait, ended } = fixture()
    wait(100)
    await clock.advance(99)
    expect(ended()).toBe(0)
    await clock.advance(1)
    expect(ended()).toBe(1)
  })

  test('ends the current wait on notify, once', async () => {
    const { clock, signal, wait, ended } = fixture()
    wait(null)
    await flushEventLoop()
    signal.notify()
    await flushEventLoop()
    wait(100)
    await clock.advance(50)
    expect(ended()).toBe(1)
  })

  test('ends the next wait at once when it was notified before', async () => {
    const { signal, wait, ended } = fixture()
    signal.notify()
    signal.notify()
    wait(null)
    await flushEventLoop()
    expect(ended()).toBe(1)
    wait(null)
    await flushEventLoop()
    expect(ended()).toBe(1)
  })

  test('ends every wait when the abort signal fires', async () => {
    const { stop, wait, ended } = fixture()
    wait(null)
    stop.abort()
    await flushEventLoop()
    wait(null)
    await flushEventLoop()
    expect(ended()).toBe(2)
  })
})
