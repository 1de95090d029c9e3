import type { RecordedEvent } from '../../kernel/event.ts'
import {
  type CarrierNumbers,
  CarrierRefused,
  CarrierUnavailable,
  type NumberQuery,
  type OfferedNumber,
} from '../../ports/carrier-numbers.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import type { Random } from '../../ports/random.ts'
import { findBlock, type NumberingPlan, numberingPlans, searchNumbers } from './inventory.ts'
import {
  HELD,
  lastDigitsOf,
  orderAt,
  type SimulatedNumberState,
  simulatedNumber,
  streamOfNumber,
  UNCONNECTED,
  UNREACHABLE,
} from './simulated-number.ts'

export interface NumbersPorts {
  readonly log: EventLog
  readonly ops: OperationalStore
  readonly clock: Clock
  readonly random: Random
  /** Area codes with their states. */
  readonly areaCodes: ReadonlyMap<string, string>
}

/** Area codes whose search shows how a carrier refuses, and how it is away. */
const SEARCH_FAILURES: Readonly<Record<string, () => Error>> = {
  999: () => new CarrierRefused('Area code 999 is not in service.'),
  998: () => new CarrierUnavailable('The simulated carrier does not answer.'),
}

const orderKey = (commandId: string) => `simulated-order:${commandId}`

function foldOf(events: readonly RecordedEvent[]): SimulatedNumberState {
  const evolve = simulatedNumber.evolve as Readonly<
    Record<string, (state: SimulatedNumberState, event: RecordedEvent) => SimulatedNumberState>
  >
  return events.reduce((state, event) => evolve[event.type]?.(state, event) ?? state, simulatedNumber.initial)
}

/** The numbers of the simulated carrier: endless, always the same, and each rented by one customer at a time. */
export function createSimulatedNumbers({ log, ops, clock, random, areaCodes }: NumbersPorts): CarrierNumbers {
  const plans = numberingPlans(areaCodes)

  async function stateOf(e164: string) {
    const events = await log.read(streamOfNumber(e164), 0)
    return { state: foldOf(events), revision: events.length - 1 }
  }

  /** Appends what a number's state leads to; decides again where another came first. */
  async function append(
    e164: string,
    workspaceId: string | null,
    decide: (
      state: SimulatedNumberState,
    ) => { readonly type: string; readonly data: { readonly commandId: string } } | null,
  ): Promise<SimulatedNumberState> {
    for (;;) {
      const { state, revision } = await stateOf(e164)
      const event = decide(state)
      if (event === null) return state
      const meta = {
        eventId: random.uuid(),
        workspaceId,
        at: new Date(clock.now()).toISOString(),
        actor: { type: 'carrier', id: null, name: 'Simulated carrier' },
        commandId: event.data.commandId,
        correlationId: event.data.commandId,
        causationId: null,
        surface: 'carrier',
        ip: null,
      } as const
      await log.append(streamOfNumber(e164), revision, [{ ...event, version: 1, meta }])
    }
  }

  /** The first of the numbers that nobody has. */
  async function free(numbers: Iterable<OfferedNumber>, limit: number): Promise<readonly OfferedNumber[]> {
    const open: OfferedNumber[] = []
    let waiting: OfferedNumber[] = []
    const look = async () => {
      const states = await Promise.all(waiting.map(({ e164 }) => stateOf(e164)))
      open.push(...waiting.filter((_, n) => !states[n]?.state.rented))
      waiting = []
    }
    for (const number of numbers) {
      waiting.push(number)
      if (open.length + waiting.length >= limit) await look()
      if (open.length >= limit) break
    }
    await look()
    return open.slice(0, limit)
  }

  function* fitting(plan: NumberingPlan, query: NumberQuery): Generator<OfferedNumber> {
    for (const number of searchNumbers(plan, query)) {
      if (!query.excludeHeldNumbers || lastDigitsOf(number.e164) !== HELD) yield number
    }
  }

  return {
    async search(query) {
      const problem = query.areaCode === null ? undefined : SEARCH_FAILURES[query.areaCode]
      if (problem) throw problem()
      const plan = plans.find(({ countryCode }) => countryCode === query.countryCode)
      if (!plan) return { results: [], total: 0, bestEffort: false }
      const exact = await free(fitting(plan, query), query.limit)
      if (exact.length > 0 || !query.bestEffort) return { results: exact, total: exact.length, bestEffort: false }
      const near = { ...query, contains: null, startsWith: null, endsWith: null, locality: null, rateCenter: null }
      const results = await free(fitting(plan, near), query.limit)
      return { results, total: results.length, bestEffort: true }
    },
    async placeOrder({ commandId, workspaceId, e164, customerReference }) {
      if (lastDigitsOf(e164) === UNREACHABLE) throw new CarrierUnavailable('The simulated carrier does not answer.')
      if (findBlock(plans, e164) === null) throw new CarrierRefused(`${e164} is not a number that we rent.`)
      await ops.put(orderKey(commandId), e164, null)
      const state = await append(e164, workspaceId, ({ orders, rented: taken }) => {
        if (orders.some((order) => order.commandId === commandId)) return null
        const at = new Date(clock.now()).toISOString()
        return { type: 'SimulatedNumberOrdered', data: { commandId, e164, customerReference, taken, at } }
      })
      const order = state.orders.find((known) => known.commandId === commandId)
      if (!order) throw new CarrierUnavailable('The order was lost.')
      return orderAt(order, clock.now())
    },
    async findOrder({ commandId }) {
      const entry = await ops.get(orderKey(commandId), clock.now())
      if (!entry) return null
      const { state } = await stateOf(String(entry.value))
      const order = state.orders.find((known) => known.commandId === commandId)
      return order ? orderAt(order, clock.now()) : null
    },
    async connect({ e164 }) {
      if (lastDigitsOf(e164) === UNCONNECTED) throw new CarrierRefused(`${e164} cannot be pointed at this connection.`)
    },
    async release({ commandId, e164 }) {
      await append(e164, null, ({ rented }) =>
        rented ? { type: 'SimulatedNumberReleased', data: { commandId, e164 } } : null,
      )
    },
  }
}
