import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../../commands/access/create-workspace.ts'
import { creditWallet } from '../../commands/money/credit-wallet.ts'
import { placeNumberOrder } from '../../commands/supply/place-number-order.ts'
import { workspace } from '../../src/domain/configuration/workspace.ts'
import { wallet } from '../../src/domain/money/wallet.ts'
import { orderByRequest } from '../../src/domain/supply/number-order.ts'
import type { AnyCommand } from '../../src/kernel/command.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { createPlatformEffects, reactions } from '../../src/main/platform-effects.ts'
import type { Carrier } from '../../src/ports/carrier.ts'
import { CarrierUnavailable } from '../../src/ports/carrier-numbers.ts'
import { LogUnavailable } from '../../src/ports/event-log.ts'
import { advanceOrder } from '../../src/reactions/number-orders.ts'
import { applyPending } from '../../src/runtime/projections/apply-pending.ts'
import { runReactions } from '../../src/runtime/reactions/reaction-runner.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { type FaultPlan, withFaults } from '../support/faults/with-faults.ts'
import { projections } from '../support/fixtures/registry.ts'
import { openSimulatedNumbers } from '../support/fixtures/simulated-numbers.ts'
import { idOf, NOW, WORKSPACE } from '../support/fixtures/spec.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const [SETUP_CENTS, FUND_CENTS] = [100, 150]
const requestId = idOf(77)
/** Longer than the lease of a dead process on a piece of work. */
const GONE_MS = 20_000
const UNAVAILABLE = 'The process is gone.'

/** A funded workspace, and processes over it that may die. */
async function house() {
  const clock = createManualClock(Date.parse(NOW))
  const [log, ops] = [createMemoryLog(), createMemoryOperationalStore()]
  const rented = openSimulatedNumbers({ log, ops, clock, random: createSeededRandom(9) })
  let processes = 0

  function process(interfere: FaultPlan = () => undefined) {
    processes += 1
    const owner = `process-${processes}`
    const random = createSeededRandom(processes)
    const unavailable = () => new LogUnavailable(UNAVAILABLE)
    const mine = {
      log: withFaults(log, unavailable, interfere),
      ops: withFaults(ops, unavailable, (method, nth) => interfere(`ops.${method}`, nth)),
    }
    const numbers = withFaults(rented, () => new CarrierUnavailable(UNAVAILABLE), interfere)
    const lookUp = async (memory: { readonly name: string }, id: string) => {
      const projection = projections.find(({ name }) => name === memory.name)
      return projection ? (applyPending(projection, id, null, log.events)?.doc ?? null) : null
    }
    const writer = createStreamWriter({ ...mine, clock, random, lookUp })
    const carrier: Carrier = {
      name: 'Numbers alone',
      numbers,
      recordings: { open: async () => null },
      dial: async () => undefined,
      release: async () => undefined,
      probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
      close: async () => undefined,
    }
    const claims = { ops: mine.ops, owner }
    const flow = createPlatformEffects({ writer, carrier: () => carrier, clock, claims, onFailure: () => undefined })
    let commands = 0
    const handle = (command: AnyCommand, input: unknown) => {
      commands += 1
      const commandId = `${owner}-${commands}`
      const told = { correlationId: 'test', causationId: null, surface: 'test', ip: null }
      const actor = { type: 'user', id: idOf(1), name: 'Ada' } as const
      return writer.handle(command, command.input.parse(input), { workspaceId: WORKSPACE, actor, commandId, ...told })
    }
    return {
      owner,
      flow,
      handle,
      state: () => writer.stateOf(workspace, WORKSPACE),
      money: () => writer.stateOf(wallet, WORKSPACE),
      /** Buys as the route does: places the order and advances it as far as possible. */
      async buy(e164: string, as = requestId) {
        const place = { region: 'NY', locality: 'New York' }
        const terms = { e164, type: 'local', ...place, setupCents: SETUP_CENTS, monthlyCents: 250 }
        const notes = { label: null, tags: [], customerReference: null }
        const placed = await handle(placeNumberOrder, { ...terms, ...notes, requestId: as })
        if (isRefusal(placed)) return placed.refused
        const orderId = orderByRequest(await writer.stateOf(workspace, WORKSPACE), as)?.id ?? ''
        const cause = { meta: { workspaceId: WORKSPACE, correlationId: 'test', eventId: null } }
        await flow.runEffects((tools) => advanceOrder(tools, orderId, cause))
        return orderByRequest(await writer.stateOf(workspace, WORKSPACE), as)?.status ?? 'declined'
      },
    }
  }

  /** Lets a process recover unfinished work until nothing is left. */
  async function recover({ owner, flow }: ReturnType<typeof process>) {
    const stop = new AbortController()
    const { done } = runReactions({
      log,
      ops,
      reactions,
      tools: flow.tools,
      clock,
      signal: stop.signal,
      owner,
      graceMs: 0,
    })
    await clock.advance(5_000)
    stop.abort()
    await done
  }

  const first = process()
  await first.handle(createWorkspace, { name: 'Acme', timezone: 'UTC', planId: 'growth', sandbox: false })
  await first.handle(creditWallet, { amountCents: FUND_CENTS, reference: 'opening' })
  const counted = (type: string) => log.events.filter((event) => event.type === type).length
  return { clock, process, recover, counted, rented }
}

type House = Awaited<ReturnType<typeof house>>

/** What holds after every successful purchase, whatever happened during it. */
async function boughtOnce({ process, counted }: House, e164: string) {
  const { numbers, orders } = await process().state()
  expect([...orders.values()].map(({ status }) => status)).toEqual(['completed'])
  expect([...numbers.values()]).toMatchObject([{ e164, role: 'unassigned', status: 'active', webhookStatus: 'ready' }])
  const { balanceCents, reservedCents } = await process().money()
  expect([balanceCents, reservedCents]).toEqual([FUND_CENTS - SETUP_CENTS, 0])
  expect(['SimulatedNumberOrdered', 'NumberProvisioned', 'WalletCharged'].map(counted)).toEqual([1, 1, 1])
}

/** A process that dies at its n-th step, which is not done or loses its answer. */
function dyingAt(step: number, fault: 'fail' | 'lose') {
  let taken = 0
  const interfere: FaultPlan = (method) => {
    if (!['append', 'order', 'connect', 'ops.claim', 'ops.release'].includes(method)) return undefined
    taken += 1
    if (taken < step) return undefined
    return taken === step ? fault : 'fail'
  }
  return { interfere, steps: () => taken }
}

const [INSTANT, SLOW, REVIEWED, GONE, DOOMED] = ['1234', '0001', '0002', '0003', '0004'].map((end) => `+1212694${end}`)

async function stepsOfPurchase(): Promise<number> {
  const { process } = await house()
  const { interfere, steps } = dyingAt(Number.POSITIVE_INFINITY, 'fail')
  expect(await process(interfere).buy(`${INSTANT}`)).toBe('completed')
  return steps()
}

describe('a number order', () => {
  test('whose process dies at any step and whose request is repeated charges once and provisions one number', async () => {
    const steps = await stepsOfPurchase()
    expect(steps).toBeGreaterThan(5)
    for (let step = 1; step <= steps; step += 1) {
      for (const fault of ['fail', 'lose'] as const) {
        const home = await house()
        const { interfere } = dyingAt(step, fault)
        await home
          .process(interfere)
          .buy(`${INSTANT}`)
          .catch(() => null)
        await home.clock.advance(GONE_MS)
        const next = home.process()
        expect(await next.buy(`${INSTANT}`), `${fault} at step ${step}`).toBe('completed')
        await home.recover(next)
        await boughtOnce(home, `${INSTANT}`)
      }
    }
  })

  test('whose process dies at any step after it was placed is completed without another request', async () => {
    const steps = await stepsOfPurchase()
    for (let step = 2; step <= steps; step += 1) {
      const home = await house()
      const { interfere } = dyingAt(step, 'lose')
      await home
        .process(interfere)
        .buy(`${INSTANT}`)
        .catch(() => null)
      await home.clock.advance(GONE_MS)
      await home.recover(home.process())
      await boughtOnce(home, `${INSTANT}`)
    }
  })

  test('requested fifty times at once in two processes charges once', async () => {
    const home = await house()
    const processes = [home.process(), home.process()]
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, n) => processes[n % 2]?.buy(`${INSTANT}`)))
    expect(outcomes.filter((status) => status !== 'completed' && status !== 'pending')).toEqual([])
    await home.recover(home.process())
    await boughtOnce(home, `${INSTANT}`)
  })

  test('never spends more than the wallet holds together with concurrent orders', async () => {
    const home = await house()
    const buyer = home.process()
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, n) => buyer.buy(`+12126942${100 + n}`, idOf(100 + n))),
    )
    expect(outcomes.filter((status) => status === 'completed')).toHaveLength(1)
    expect(outcomes.filter((status) => status === 'insufficient-funds')).toHaveLength(9)
    const { balanceCents, reservedCents } = await buyer.money()
    expect([balanceCents, reservedCents]).toEqual([FUND_CENTS - SETUP_CENTS, 0])
  })

  test('that the carrier completes later is polled until then and keeps its fee reserved', async () => {
    const home = await house()
    const buyer = home.process()
    expect(await buyer.buy(`${SLOW}`)).toBe('pending')
    expect((await buyer.money()).reservedCents).toBe(SETUP_CENTS)
    const orderId = orderByRequest(await buyer.state(), requestId)?.id ?? ''
    const poll = () =>
      buyer.flow.runScheduledJob('order', WORKSPACE, { subjectId: orderId, dueAt: 0, amountCents: null })
    await poll()
    expect(home.counted('NumberProvisioned')).toBe(0)
    await home.clock.advance(5_000)
    await poll()
    await poll()
    await boughtOnce(home, `${SLOW}`)
  })

  test.each([
    ['at once', GONE],
    ['later', DOOMED],
  ])('that the carrier turns down %s gives its fee back', async (_when, e164) => {
    const home = await house()
    const buyer = home.process()
    await buyer.buy(`${e164}`)
    const order = orderByRequest(await buyer.state(), requestId)
    await home.clock.advance(5_000)
    await buyer.flow.runScheduledJob('order', WORKSPACE, { subjectId: order?.id ?? '', dueAt: 0, amountCents: null })
    expect(orderByRequest(await buyer.state(), requestId)).toMatchObject({ status: 'failed', numberId: null })
    const { balanceCents, reservedCents } = await buyer.money()
    expect([balanceCents, reservedCents]).toEqual([FUND_CENTS, 0])
    expect(['WalletCharged', 'WalletReserved', 'WalletReservationReleased'].map(home.counted)).toEqual([0, 1, 1])
  })

  test('in review waits for a person with its fee reserved', async () => {
    const home = await house()
    const buyer = home.process()
    expect(await buyer.buy(`${REVIEWED}`)).toBe('review')
    await home.clock.advance(60_000)
    expect(await buyer.buy(`${REVIEWED}`)).toBe('review')
    expect((await buyer.money()).reservedCents).toBe(SETUP_CENTS)
  })

  test('for a number that another workspace has taken fails and costs nothing', async () => {
    const home = await house()
    const e164 = `${INSTANT}`
    await home.rented.placeOrder({ commandId: 'theirs', workspaceId: idOf(5), e164, customerReference: null })
    const buyer = home.process()
    expect(await buyer.buy(e164)).toBe('failed')
    expect(await buyer.money()).toMatchObject({ balanceCents: FUND_CENTS, reservedCents: 0 })
  })
})
