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
import { upcasts } from '../../src/main/registry.ts'
import type { Carrier } from '../../src/ports/carrier.ts'
import { CarrierUnavailable } from '../../src/ports/carrier-numbers.ts'
import { LogUnavailable } from '../../src/ports/event-log.ts'
import { advanceOrder } from '../../src/reactions/number-orders.ts'
import { applyPending } from '../../src/runtime/projections/apply-pending.ts'
import { runReactions } from '../../src/runtime/reactions/reaction-runner.ts'
import { createStreamWriter } from '../../src/runtime/write/stream-writer.ts'
import { type FaultPlan, withFaults } from '../support/faults/with-faults.ts'
import { noAuctions } from '../support/fixtures/no-auctions.ts'
import { noDeliveries } from '../support/fixtures/no-deliveries.ts'
import { projections } from '../support/fixtures/registry.ts'
import { openSimulatedNumbers } from '../support/fixtures/simulated-numbers.ts'
import { idOf, NOW, WORKSPACE } from '../support/fixtures/spec.ts'
import { createManualClock, withPromptWakes } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { ownEverything } from '../support/memory/ownership.ts'
import { createSeededRandom } from '../support/memory/random.ts'

const [SETUP_CENTS, FUND_CENTS] = [100, 150]
const requestId = idOf(77)
/** Longer than the claim of a dead process on a piece of work. */
const GONE_MS = 20_000
const UNAVAILABLE = 'The process is gone.'

/** What the processes of a workspace share. */
function createStores() {
  const clock = createManualClock(Date.parse(NOW))
  const [log, ops] = [createMemoryLog(), createMemoryOperationalStore()]
  return { clock, log, ops, numbers: openSimulatedNumbers({ log, ops, clock, random: createSeededRandom(9) }) }
}
type Stores = ReturnType<typeof createStores>

/** The writer and effects of the n-th process, whose calls to the outside may fail. */
function createEngine({ clock, log, ops, numbers }: Stores, n: number, interfere: FaultPlan) {
  const unavailable = () => new LogUnavailable(UNAVAILABLE)
  const faulty = {
    log: withFaults(log, unavailable, interfere),
    ops: withFaults(ops, unavailable, (method, nth) => interfere(`ops.${method}`, nth)),
  }
  const lookUp = async (memory: { readonly name: string }, id: string) => {
    const projection = projections.find(({ name }) => name === memory.name)
    return projection ? (applyPending(projection, id, null, log.events, upcasts)?.doc ?? null) : null
  }
  const writer = createStreamWriter({ ...faulty, clock: withPromptWakes(clock), random: createSeededRandom(n), lookUp })
  const carrier: Carrier = {
    name: 'Numbers alone',
    numbers: withFaults(numbers, () => new CarrierUnavailable(UNAVAILABLE), interfere),
    recordings: { open: async () => null },
    dial: async () => undefined,
    release: async () => undefined,
    probe: async () => ({ outcome: 'answered', sipCode: null, ms: 0 }),
    close: async () => undefined,
  }
  const owner = `process-${n}`
  const claims = { ops: faulty.ops, owner }
  const flow = createPlatformEffects({
    log,
    deliveries: noDeliveries,
    auctions: noAuctions,
    writer,
    carrier: () => carrier,
    clock,
    claims,
    onFailure: () => undefined,
  })
  return { owner, writer, flow }
}

/** A process that executes commands and buys numbers. */
function startProcess(stores: Stores, n: number, interfere: FaultPlan) {
  const { owner, writer, flow } = createEngine(stores, n, interfere)
  let commands = 0
  const handle = (command: AnyCommand, input: unknown) => {
    commands += 1
    const commandId = `${owner}-${commands}`
    const source = { correlationId: 'test', causationId: null, surface: 'test', ip: null }
    const actor = { type: 'user', id: idOf(1), name: 'Ada' } as const
    return writer.handle(command, command.input.parse(input), { workspaceId: WORKSPACE, actor, commandId, ...source })
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

/** A funded workspace, and processes over it that may die. */
async function openWorkspace() {
  const stores = createStores()
  const { clock, log, ops, numbers } = stores
  let processes = 0

  function process(interfere: FaultPlan = () => undefined) {
    processes += 1
    return startProcess(stores, processes, interfere)
  }

  /** Lets a process recover unfinished work until nothing is left. */
  async function recover({ flow }: ReturnType<typeof process>) {
    const stop = new AbortController()
    const { done } = runReactions({
      log,
      ops,
      ownership: ownEverything(),
      reactions,
      tools: flow.tools,
      clock,
      signal: stop.signal,
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
  return { clock, process, recover, counted, numbers }
}

type OpenWorkspace = Awaited<ReturnType<typeof openWorkspace>>

/** What holds after every successful purchase, whatever happened during it. */
async function boughtOnce({ process, counted }: OpenWorkspace, e164: string) {
  const { numbers, orders } = await process().state()
  expect([...orders.values()].map(({ status }) => status)).toEqual(['completed'])
  expect([...numbers.values()]).toMatchObject([{ e164, role: 'unassigned', status: 'active', webhookStatus: 'ready' }])
  const { balanceCents, reservedCents } = await process().money()
  expect([balanceCents, reservedCents]).toEqual([FUND_CENTS - SETUP_CENTS, 0])
  expect(['SimulatedNumberOrdered', 'NumberProvisioned', 'WalletCharged'].map(counted)).toEqual([1, 1, 1])
}

/** A process that dies at its n-th step, which is not done or loses its answer. */
function dyingAt(step: number, fault: 'fail' | 'lose') {
  let steps = 0
  const interfere: FaultPlan = (method) => {
    if (!['append', 'order', 'connect', 'ops.claim', 'ops.releaseClaim'].includes(method)) return undefined
    steps += 1
    if (steps < step) return undefined
    return steps === step ? fault : 'fail'
  }
  return { interfere, steps: () => steps }
}

const [INSTANT, SLOW, REVIEWED, GONE, DOOMED] = ['1234', '0001', '0002', '0003', '0004'].map((end) => `+1212694${end}`)

async function stepsOfPurchase(): Promise<number> {
  const { process } = await openWorkspace()
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
        const acme = await openWorkspace()
        const { interfere } = dyingAt(step, fault)
        await acme
          .process(interfere)
          .buy(`${INSTANT}`)
          .catch(() => null)
        await acme.clock.advance(GONE_MS)
        const next = acme.process()
        expect(await next.buy(`${INSTANT}`), `${fault} at step ${step}`).toBe('completed')
        await acme.recover(next)
        await boughtOnce(acme, `${INSTANT}`)
      }
    }
  })

  test('whose process dies at any step after it was placed is completed without another request', async () => {
    const steps = await stepsOfPurchase()
    for (let step = 2; step <= steps; step += 1) {
      const acme = await openWorkspace()
      const { interfere } = dyingAt(step, 'lose')
      await acme
        .process(interfere)
        .buy(`${INSTANT}`)
        .catch(() => null)
      await acme.clock.advance(GONE_MS)
      await acme.recover(acme.process())
      await boughtOnce(acme, `${INSTANT}`)
    }
  })

  test('requested fifty times at once in two processes charges once', async () => {
    const acme = await openWorkspace()
    const processes = [acme.process(), acme.process()]
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, n) => processes[n % 2]?.buy(`${INSTANT}`)))
    expect(outcomes.filter((status) => status !== 'completed' && status !== 'pending')).toEqual([])
    await acme.recover(acme.process())
    await boughtOnce(acme, `${INSTANT}`)
  })

  test('never spends more than the wallet holds together with concurrent orders', async () => {
    const acme = await openWorkspace()
    const buyer = acme.process()
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, n) => buyer.buy(`+12126942${100 + n}`, idOf(100 + n))),
    )
    expect(outcomes.filter((status) => status === 'completed')).toHaveLength(1)
    expect(outcomes.filter((status) => status === 'insufficient-funds')).toHaveLength(9)
    const { balanceCents, reservedCents } = await buyer.money()
    expect([balanceCents, reservedCents]).toEqual([FUND_CENTS - SETUP_CENTS, 0])
  })

  test('that the carrier completes later is polled until then and keeps its fee reserved', async () => {
    const acme = await openWorkspace()
    const buyer = acme.process()
    expect(await buyer.buy(`${SLOW}`)).toBe('pending')
    expect((await buyer.money()).reservedCents).toBe(SETUP_CENTS)
    const orderId = orderByRequest(await buyer.state(), requestId)?.id ?? ''
    const poll = () =>
      buyer.flow.runScheduledJob('order', WORKSPACE, { subjectId: orderId, dueAt: 0, amountCents: null })
    await poll()
    expect(acme.counted('NumberProvisioned')).toBe(0)
    await acme.clock.advance(5_000)
    await poll()
    await poll()
    await boughtOnce(acme, `${SLOW}`)
  })

  test.each([
    ['at once', GONE],
    ['later', DOOMED],
  ])('that the carrier turns down %s gives its fee back', async (_when, e164) => {
    const acme = await openWorkspace()
    const buyer = acme.process()
    await buyer.buy(`${e164}`)
    const order = orderByRequest(await buyer.state(), requestId)
    await acme.clock.advance(5_000)
    await buyer.flow.runScheduledJob('order', WORKSPACE, { subjectId: order?.id ?? '', dueAt: 0, amountCents: null })
    expect(orderByRequest(await buyer.state(), requestId)).toMatchObject({ status: 'failed', numberId: null })
    const { balanceCents, reservedCents } = await buyer.money()
    expect([balanceCents, reservedCents]).toEqual([FUND_CENTS, 0])
    expect(['WalletCharged', 'WalletReserved', 'WalletReservationReleased'].map(acme.counted)).toEqual([0, 1, 1])
  })

  test('in review waits for a person with its fee reserved', async () => {
    const acme = await openWorkspace()
    const buyer = acme.process()
    expect(await buyer.buy(`${REVIEWED}`)).toBe('review')
    await acme.clock.advance(60_000)
    expect(await buyer.buy(`${REVIEWED}`)).toBe('review')
    expect((await buyer.money()).reservedCents).toBe(SETUP_CENTS)
  })

  test('for a number that another workspace has taken fails and costs nothing', async () => {
    const acme = await openWorkspace()
    const e164 = `${INSTANT}`
    await acme.numbers.placeOrder({ commandId: 'theirs', workspaceId: idOf(5), e164, customerReference: null })
    const buyer = acme.process()
    expect(await buyer.buy(e164)).toBe('failed')
    expect(await buyer.money()).toMatchObject({ balanceCents: FUND_CENTS, reservedCents: 0 })
  })
})
