import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { creditWallet } from '../../commands/money/credit-wallet.ts'
import { provisionNumber } from '../../commands/supply/provision-number.ts'
import { requestNumberRelease } from '../../commands/supply/request-number-release.ts'
import { walletEntries } from '../../projections/money/wallet-entries.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import type { AnyCommand } from '../../src/kernel/command.ts'
import { createPlatformEffects } from '../../src/main/platform-effects.ts'
import { timers, upcasts } from '../../src/main/registry.ts'
import { runWorkers } from '../../src/main/workers.ts'
import type { Carrier } from '../../src/ports/carrier.ts'
import { type EventLog, LogUnavailable } from '../../src/ports/event-log.ts'
import { enter, ownerName } from '../../src/runtime/ownership/presence.ts'
import { runProjections } from '../../src/runtime/projections/projection-runner.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { createTenant, execute } from '../../src/seed/tenants.ts'
import { type FaultPlan, withFaults } from '../support/faults/with-faults.ts'
import { lookUpIn } from '../support/fixtures/look-up-in.ts'
import { noAuctions } from '../support/fixtures/no-auctions.ts'
import { noDeliveries } from '../support/fixtures/no-deliveries.ts'
import { WORKSPACE } from '../support/fixtures/spec.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { ownEverything } from '../support/memory/ownership.ts'
import { createSeededRandom } from '../support/memory/random.ts'
import { createMemoryReadStore } from '../support/memory/read-store.ts'

const START = Date.UTC(2026, 0, 31, 10)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Time for a process to do due work and to renew leases that expired. */
const AWAKE_MS = 15_000
const RENT = 250
const E164 = '+14155550123'

const nobody: Carrier = {
  name: 'nobody',
  dial: async () => {},
  release: async () => {},
  probe: async () => ({ outcome: 'failed', sipCode: null, ms: 0 }),
  numbers: null,
  recordings: { open: async () => null },
  close: async () => {},
}

/** Stores and a clock, and processes over them one after another. */
function machine() {
  const [log, ops, store, clock] = [
    createMemoryLog(),
    createMemoryOperationalStore(),
    createMemoryReadStore(),
    createManualClock(START),
  ]
  const logger = pino({ level: 'silent' })
  let processes = 0

  /** Starts a process over the stores; `interfere` decides on faults of its appends. */
  function boot(interfere: FaultPlan = () => undefined) {
    processes += 1
    const owner = ownerName(`process-${processes}`, '1')
    const entered = enter({ ops, clock, owner, reads: {} })
    const faulty: EventLog = withFaults(log, () => new LogUnavailable('gone'), interfere)
    const random = createSeededRandom(processes)
    const writer = createStreamWriter({
      log: faulty,
      ops,
      clock,
      random,
      lookUp: lookUpIn(log, store, clock),
    })
    const flow = createPlatformEffects({
      log,
      deliveries: noDeliveries,
      auctions: noAuctions,
      writer,
      carrier: () => nobody,
      clock,
      claims: { ops, owner },
      onFailure: () => undefined,
    })
    const stop = new AbortController()
    const ownership = ownEverything()
    const projecting = {
      log,
      store,
      ownership,
      projections: [timers, walletEntries],
      upcasts,
      clock,
      signal: stop.signal,
    }
    const projector = runProjections(projecting)
    const workers = runWorkers({
      openEndpoint: async () => null,
      log,
      ops,
      views: store,
      effects: flow,
      clock,
      owner,
      shards: 1,
      logger,
    })
    return {
      act: (command: AnyCommand, input: unknown, id?: string) => execute(writer, WORKSPACE, command, input, id),
      writer,
      /** Ends it. */
      kill() {
        stop.abort()
        void workers.close()
        void entered.then((presence) => presence.leave())
        return Promise.all([projector.done, clock.advance(0)])
      },
    }
  }
  return { log, clock, boot }
}

type Machine = ReturnType<typeof machine>
type Process = ReturnType<Machine['boot']>

const running: Process[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.kill()))
})

/** A workspace with a number whose rent is due a month after the start. */
async function rentedNumber(interfere?: FaultPlan) {
  const { log, clock, boot } = machine()
  const preparing = boot()
  const owner = { email: 'ann@example.com', name: 'Ann', password: 'correct horse' }
  await createTenant(preparing.writer, {
    workspaceId: WORKSPACE,
    name: 'Acme',
    timezone: 'UTC',
    planId: 'growth',
    sandbox: true,
    owner,
  })
  await preparing.act(provisionNumber, { e164: E164, type: 'local', renewsAt: '2026-02-28T10:00:00.000Z' })
  await preparing.kill()
  let current = boot(interfere)
  running.push(current)
  const state = async () => {
    const { numbers, numberIds, renewals } = await current.writer.stateOf(workspace, WORKSPACE)
    const numberId = numberIds.get(E164) ?? ''
    return { number: numbers.get(numberId), renewal: renewals.get(numberId), numberId }
  }
  const credit = (amountCents: number, reference: string) =>
    current.act(creditWallet, { amountCents, reference }, `credit:${reference}`)
  const eventsOf = (type: string) => log.events.filter((event) => event.type === type)
  const sleepUntil = async (instant: number) => {
    await clock.jump(Math.max(0, instant - clock.now()))
    await clock.advance(AWAKE_MS)
  }
  return {
    sleepUntil,
    sleep: (ms: number) => sleepUntil(clock.now() + ms),
    state,
    credit,
    eventsOf,
    act: (command: AnyCommand, input: unknown) => current.act(command, input),
    /** References and balances of the charges, in order. */
    charges: () => eventsOf('WalletCharged').map(({ data }) => data),
    clock,
    kill: () => current.kill(),
    /** Kills the process and starts another over the same stores. */
    async restart() {
      await current.kill()
      current = boot()
      running.push(current)
    },
  }
}

const DUE = Date.parse('2026-02-28T10:00:00.000Z')

describe('number renewals on a simulated clock', () => {
  test('bill each month once, on the day of the purchase or the last of a shorter month, for a year', async () => {
    const { sleepUntil, credit, state, charges } = await rentedNumber()
    await credit(10_000, 'first')
    const { numberId } = await state()
    const months = ['02-28', '03-31', '04-30', '05-31', '06-30', '07-31', '08-31', '09-30', '10-31', '11-30', '12-31']
    const dates = [...months.map((date) => `2026-${date}`), '2027-01-31']
    for (const [n, date] of dates.entries()) {
      await sleepUntil(Date.parse(`${date}T09:59:00.000Z`))
      expect(charges()).toHaveLength(n)
      await sleepUntil(Date.parse(`${date}T10:00:00.000Z`))
      expect(charges().at(-1)).toMatchObject({
        reference: `renewal:${numberId}:${date}`,
        amountCents: RENT,
        balanceCents: 10_000 - RENT * (n + 1),
      })
    }
    expect((await state()).number).toMatchObject({ status: 'active', renewsAt: '2027-02-28T10:00:00.000Z' })
  })

  test('make an unpaid number past due at once, suspend it after seven days, and reactivate it when the wallet is credited', async () => {
    const { sleep, sleepUntil, credit, state, eventsOf, charges } = await rentedNumber()
    const status = async () => (await state()).number?.status
    await sleepUntil(DUE - MINUTE_MS)
    expect(await status()).toBe('active')
    await sleepUntil(DUE)
    expect(await status()).toBe('past_due')
    for (let day = 1; day < 7; day += 1) {
      await sleepUntil(DUE + (day - 0.5) * DAY_MS)
      expect(eventsOf('NumberRenewalFailed')).toHaveLength(day)
      await sleepUntil(DUE + day * DAY_MS + MINUTE_MS)
      expect(await status()).toBe('past_due')
    }
    await sleepUntil(DUE + 7 * DAY_MS + MINUTE_MS)
    expect(await status()).toBe('suspended')
    expect(eventsOf('NumberRenewalFailed')).toHaveLength(8)
    expect(charges()).toEqual([])
    await credit(RENT - 1, 'too little')
    await sleep(0)
    expect(await status()).toBe('suspended')
    await credit(1, 'the rest')
    await sleep(0)
    expect(await state()).toMatchObject({
      number: { status: 'active', renewsAt: '2026-03-31T10:00:00.000Z' },
      renewal: { pastDueSince: null, retryAt: null },
    })
    expect(charges()).toMatchObject([{ amountCents: RENT, balanceCents: 0 }])
  })

  test('keep a number suspended until both of two unpaid months are paid', async () => {
    const { sleep, sleepUntil, credit, state, charges } = await rentedNumber()
    await sleepUntil(DUE)
    await sleepUntil(Date.parse('2026-04-02T00:00:00.000Z'))
    await credit(RENT, 'one month')
    await sleep(0)
    expect((await state()).number).toMatchObject({ status: 'suspended', renewsAt: '2026-03-31T10:00:00.000Z' })
    await credit(RENT, 'the other')
    await sleep(0)
    expect((await state()).number).toMatchObject({ status: 'active', renewsAt: '2026-04-30T10:00:00.000Z' })
    expect(charges()).toHaveLength(2)
  })

  test('go on for a number whose release is requested', async () => {
    const { sleepUntil, credit, state, charges, act } = await rentedNumber()
    await credit(RENT, 'first')
    await act(requestNumberRelease, { numberId: (await state()).numberId })
    await sleepUntil(DUE)
    expect(charges()).toHaveLength(1)
  })

  test('bill each month once after a platform was down for months', async () => {
    const { sleep, clock, credit, kill, restart, charges, state } = await rentedNumber()
    await credit(1_000, 'first')
    await kill()
    await clock.jump(100 * DAY_MS)
    await restart()
    await sleep(0)
    expect(charges()).toHaveLength(3)
    expect((await state()).number).toMatchObject({ status: 'active', renewsAt: '2026-05-31T10:00:00.000Z' })
  })
})

describe.each(['fail', 'lose'] as const)('a process that dies over an append (%s)', (fault) => {
  test.each([1, 2, 3, 4])('bills every month once and leaves the number active, at append %i', async (nth) => {
    let struck = 0
    const interfere: FaultPlan = (method, count) => {
      // From then on every call fails.
      if (struck > 0) return 'fail'
      if (method !== 'append' || count !== nth) return undefined
      struck += 1
      return fault
    }
    const { sleep, sleepUntil, credit, restart, charges, state, eventsOf } = await rentedNumber(interfere)
    let dead = false
    /** Replaces the dead process. */
    const revive = async () => {
      if (struck === 0 || dead) return
      dead = true
      await restart()
      await sleep(0)
    }
    // A month without money, a credit, and a month with its rent.
    await sleepUntil(DUE)
    await revive()
    await credit(2 * RENT, 'first').catch(() => null)
    await revive()
    await credit(2 * RENT, 'first')
    await sleep(0)
    await revive()
    await sleepUntil(Date.parse('2026-03-31T10:00:00.000Z'))
    await revive()
    const { number, numberId } = await state()
    expect(struck).toBe(1)
    expect(eventsOf('WalletCredited')).toHaveLength(1)
    expect(charges()).toMatchObject([
      { reference: `renewal:${numberId}:2026-02-28`, balanceCents: RENT },
      { reference: `renewal:${numberId}:2026-03-31`, balanceCents: 0 },
    ])
    expect(eventsOf('NumberRenewed')).toHaveLength(2)
    expect(number).toMatchObject({ status: 'active', renewsAt: '2026-04-30T10:00:00.000Z' })
  })
})
