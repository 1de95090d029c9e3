import { expect, test } from 'vitest'
import { openSimulator } from '../../src/adapters/simulator/simulator.ts'
import type { CarrierNotice, DialCommand } from '../../src/ports/carrier.ts'
import { LogUnavailable } from '../../src/ports/event-log.ts'
import { StoreUnavailable } from '../../src/ports/read-store.ts'
import type { PlacedCall } from '../../src/ports/simulated-carrier.ts'
import { type FaultPlan, withFaults } from '../support/faults/with-faults.ts'
import { idOf, NOW, WORKSPACE } from '../support/fixtures/spec.ts'
import { advanceUntil, createManualClock, flushEventLoop } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'

/** Longer than a process may be silent before its calls are taken over. */
const SILENCE_MS = 5_000
const CALL = idOf(1)
const TARGET = idOf(2)

const PLACED: PlacedCall = {
  workspaceId: WORKSPACE,
  callId: CALL,
  carrierCallId: 'sim_1',
  to: '+13105550101',
  from: '+12125550100',
  sipHeaders: {},
  script: {},
  mode: 'live',
  speed: 1,
  seed: null,
  arrivesAt: NOW,
  givesUpAt: null,
}

const DIAL: DialCommand = {
  commandId: idOf(3),
  workspaceId: WORKSPACE,
  callId: CALL,
  carrierCallId: 'sim_1',
  attempt: 1,
  targetId: TARGET,
  destination: '+13125550101',
  callerId: null,
  ringSeconds: 20,
  whisper: null,
  record: false,
  at: NOW,
}

/** A log, a store, a clock, and carriers of several processes over them. */
function exchange() {
  const log = createMemoryLog()
  const ops = createMemoryOperationalStore()
  const clock = createManualClock(Date.parse(NOW))
  const received: CarrierNotice['type'][] = []
  let processes = 0
  const carrier = (interfere: FaultPlan = () => undefined) => {
    processes += 1
    return openSimulator({
      log: withFaults(log, () => new LogUnavailable('The log does not answer.'), interfere),
      ops: withFaults(
        ops,
        () => new LogUnavailable('Gone.'),
        (method) => interfere(`ops.${method}`, 0),
      ),
      clock,
      random: createSeededRandom(processes),
      secrets: { seal: (text) => `sealed ${text}`, unseal: (sealed) => sealed.replace(/^sealed /, '') },
      owner: `process-${processes}`,
      numbers: null,
      listener: async ({ type }) => {
        received.push(type)
      },
    })
  }
  const written = (type: string) => log.events.filter((event) => event.type === type).length
  return { clock, received, carrier, written, ended: () => written('SimulatedCallEnded') === 1 }
}

test('a command whose append was not answered is done once, and the call goes on', async () => {
  const { clock, carrier, written, received, ended } = exchange()
  const one = await carrier((method, nth) => (method === 'append' && nth === 2 ? 'lose' : undefined))
  await one.place(PLACED)
  await expect(one.dial(DIAL)).rejects.toThrow(LogUnavailable)
  await one.dial(DIAL).catch(() => undefined)
  await advanceUntil(clock, ended, 120_000)
  await one.dial(DIAL)
  expect(written('SimulatedDialTaken')).toBe(1)
  expect(received.filter((type) => type === 'call-ended')).toHaveLength(1)
})

test('another process continues the call of one that has ended, from its last step', async () => {
  const { clock, carrier, received, written, ended } = exchange()
  let dead = false
  const first = await carrier(() => (dead ? 'fail' : undefined))
  await first.place(PLACED)
  await first.dial(DIAL)
  dead = true
  const second = await carrier()
  await advanceUntil(clock, ended, 120_000)
  await second.dial(DIAL)
  expect(received).toContain('dial-answered')
  expect(written('SimulatedDialTaken')).toBe(1)
})

test.each(['live', 'instant'] as const)(
  'a buyer who hangs up as soon as they answer has answered: %s',
  async (mode) => {
    const { clock, carrier, received, ended } = exchange()
    const one = await carrier()
    const script = { [TARGET]: [{ result: 'answer', talkSeconds: 0 } as const] }
    const placed = one.place({ ...PLACED, mode, script })
    await flushEventLoop()
    await one.dial(DIAL)
    await advanceUntil(clock, ended, 120_000)
    await placed
    expect(received).toEqual(['call-arrived', 'dial-answered', 'call-ended'])
  },
)

test('a process that was taken for gone leaves the call to the one that took it over', async () => {
  const { clock, carrier, ended } = exchange()
  let silent = false
  let dead = false
  const first = await carrier((method) => (silent && method.startsWith('ops.put') ? 'fail' : undefined))
  await first.place(PLACED)
  const second = await carrier(() => (dead ? 'fail' : undefined))
  silent = true
  await clock.advance(SILENCE_MS)
  silent = false
  await second.dial(DIAL)
  // The first one finds out by its next write, and must not forget the call for both.
  await expect(first.dial({ ...DIAL, commandId: idOf(4), attempt: 2 })).rejects.toThrow(StoreUnavailable)
  dead = true
  await advanceUntil(clock, ended, 120_000)
})

test('a call whose placing was held up while its process was taken for gone is played to its end', async () => {
  const { clock, carrier, ended } = exchange()
  const held = Promise.withResolvers<void>()
  let silent = false
  const first = await carrier((method, nth) => {
    if (method === 'append') return nth === 1 ? held.promise : nth === 2 ? 'lose' : undefined
    return silent && method.startsWith('ops.put') ? 'fail' : undefined
  })
  const placing = first.place(PLACED)
  await carrier()
  silent = true
  await clock.advance(SILENCE_MS)
  silent = false
  held.resolve()
  await placing
  // Its answer is lost, and so the first one learns with the next that it plays the call no more.
  await expect(first.dial(DIAL)).rejects.toThrow(LogUnavailable)
  await expect(first.dial(DIAL)).rejects.toThrow(StoreUnavailable)
  await advanceUntil(clock, ended, 120_000)
})

test('a command that only another process hands on reaches the call in the end', async () => {
  const { clock, carrier, written, ended } = exchange()
  const first = await carrier()
  await first.place(PLACED)
  const second = await carrier()
  const handOn = async () => {
    await second.dial(DIAL).catch(() => undefined)
    await flushEventLoop()
  }
  for (let seconds = 0; seconds < 10 && written('SimulatedDialTaken') === 0; seconds += 1) {
    await handOn()
    await clock.advance(1_000)
  }
  expect(written('SimulatedDialTaken')).toBe(1)
  await advanceUntil(clock, ended, 120_000)
})
