import {
  type CarrierNumbers,
  CarrierRefused,
  CarrierUnavailable,
  type NumberQuery,
  type OfferedNumber,
} from '../../ports/carrier-numbers.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OperationalStore } from '../../ports/operational-store.ts'
import { NUMBER_ENDINGS, SEARCH_AREA_CODES } from '../../ports/simulated-numbers.ts'
import { findBlock, type NumberingPlan, numberingPlans, searchNumbers } from './inventory.ts'
import { orderNumber, releaseNumber } from './number-commands.ts'
import { availableNumbers, type NumberStreamPorts, readNumber, runNumberCommand } from './number-streams.ts'
import { lastDigitsOf, orderAt } from './simulated-number.ts'

export interface NumbersPorts extends NumberStreamPorts {
  readonly ops: OperationalStore
  readonly clock: Clock
  /** Area codes with their states. */
  readonly areaCodes: ReadonlyMap<string, string>
}

/** Area codes whose search fails, to show how a carrier refuses one and how it is unavailable. */
const SEARCH_FAILURES: Readonly<Record<string, () => Error>> = {
  [SEARCH_AREA_CODES.refused]: () => new CarrierRefused(`Area code ${SEARCH_AREA_CODES.refused} is not in service.`),
  [SEARCH_AREA_CODES.unanswered]: () => new CarrierUnavailable('The simulated carrier does not answer.'),
}

const orderKey = (commandId: string) => `simulated-order:${commandId}`

/** Numbers of a plan that match a search; held ones are left out where the search says so. */
function* candidates(plan: NumberingPlan, query: NumberQuery): Generator<OfferedNumber> {
  for (const number of searchNumbers(plan, query)) {
    if (!query.excludeHeldNumbers || lastDigitsOf(number.e164) !== NUMBER_ENDINGS.held) yield number
  }
}

/** The current state of an order; null when the number has none under this id. */
async function readOrder(ports: NumbersPorts, commandId: string, e164: string) {
  const { orders } = await readNumber(ports, e164)
  const order = orders.find((one) => one.commandId === commandId)
  return order ? orderAt(order, ports.clock.now()) : null
}

/** Creates the search: exact matches, or near ones where the search accepts them. */
function createSearch(ports: NumbersPorts): CarrierNumbers['search'] {
  const plans = numberingPlans(ports.areaCodes)
  return async (query) => {
    const failure = query.areaCode === null ? undefined : SEARCH_FAILURES[query.areaCode]
    if (failure) throw failure()
    const plan = plans.find(({ countryCode }) => countryCode === query.countryCode)
    if (!plan) return { results: [], total: 0, bestEffort: false }
    const exact = await availableNumbers(ports, candidates(plan, query), query.limit)
    if (exact.length > 0 || !query.bestEffort) return { results: exact, total: exact.length, bestEffort: false }
    const near = { ...query, contains: null, startsWith: null, endsWith: null, locality: null, rateCenter: null }
    const results = await availableNumbers(ports, candidates(plan, near), query.limit)
    return { results, total: results.length, bestEffort: true }
  }
}

/** The numbers of the simulated carrier: unlimited, always the same, each rented by one customer at a time. */
export function createSimulatedNumbers(ports: NumbersPorts): CarrierNumbers {
  const { ops, clock } = ports
  const plans = numberingPlans(ports.areaCodes)

  return {
    search: createSearch(ports),
    async placeOrder({ commandId, workspaceId, e164, customerReference }) {
      if (lastDigitsOf(e164) === NUMBER_ENDINGS.unreachable)
        throw new CarrierUnavailable('The simulated carrier does not answer.')
      if (findBlock(plans, e164) === null) throw new CarrierRefused(`${e164} is not a number that we rent.`)
      await ops.put(orderKey(commandId), e164, null)
      const at = new Date(clock.now()).toISOString()
      await runNumberCommand(ports, orderNumber, { commandId, e164, customerReference, at }, workspaceId)
      const order = await readOrder(ports, commandId, e164)
      if (!order) throw new CarrierUnavailable('The order was lost.')
      return order
    },
    async findOrder({ commandId }) {
      const entry = await ops.get(orderKey(commandId), clock.now())
      return entry && readOrder(ports, commandId, String(entry.value))
    },
    async connect({ e164 }) {
      if (lastDigitsOf(e164) === NUMBER_ENDINGS.unconnected)
        throw new CarrierRefused(`${e164} cannot be pointed at this connection.`)
    },
    async release({ commandId, e164 }) {
      await runNumberCommand(ports, releaseNumber, { commandId, e164 }, '')
    },
  }
}
