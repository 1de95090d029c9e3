import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { reserveOffer } from '../../commands/auctions/reserve-offer.ts'
import { voidBid } from '../../commands/auctions/void-bid.ts'
import { recordArrival } from '../../commands/calls/record-arrival.ts'
import { auction } from '../../src/domain/auctions/auction.ts'
import { parseStreamName } from '../../src/kernel/entity.ts'
import { isRefusal } from '../../src/kernel/refusal.ts'
import { emptyFold, foldEvents } from '../../src/runtime/write/fold.ts'
import { heldIn, postIn } from '../support/fixtures/auctions.ts'
import { callWorld, decisionEvent, noticeSteps, routeArrival } from '../support/fixtures/call-world.ts'
import { createHistory, type GeneratedStep, stepsOf } from '../support/fixtures/history.ts'
import { auctionId, bidId, pings } from '../support/fixtures/logged-pings.ts'
import { commands, entities } from '../support/fixtures/registry.ts'
import { loadFold, plainState, saveFold } from '../support/fixtures/snapshots.ts'
import { given } from '../support/fixtures/spec.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { partitionViolations } from '../support/oracle/partitions.ts'

const runs = { numRuns: 40, seed: 1 }
const anySteps = stepsOf(commands, 80)

/** A number of a command's own, so that others do not change its inputs. */
const numberOf = (name: string) => [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_009, 7)

/** Every command once. */
const roundOf = (n: number): readonly GeneratedStep[] =>
  commands.map(({ name }) => ({ name, seed: n * 1_009 + numberOf(name) }))
/**
 * Rounds after which most commands find a record to act on, and worlds for those that another command has locked out.
 */
const ROUNDS = 40
const WORLDS = 16

/** The commands of a call that was answered and is over, which random inputs hardly produce. */
const answered = [
  [recordArrival, decisionEvent(routeArrival(callWorld())).data],
  noticeSteps.answer(1, 4),
  noticeSteps.end(64),
] as const

describe('every command', () => {
  test('decides on any state without throwing, refuses with a declared code, and gives events that parse', () =>
    fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const history = createHistory()
        for (const step of steps) {
          const given = await history.executeStep(step)
          if (!given) continue
          const { command, outcome } = given
          if (isRefusal(outcome)) {
            expect(command.rejects, command.name).toContain(outcome.refused)
            continue
          }
          for (const { type, data } of outcome.events) {
            const schema = command.entity.events[type]
            expect(schema, `${command.name} gives ${type}`).toBeDefined()
            expect(schema?.parse(data), `${type} of ${command.name}`).toEqual(data)
          }
        }
      }),
      runs,
    ))

  test('is accepted in some state', async () => {
    const waiting = new Set(commands.map(({ name }) => name))
    // A post is accepted only where a whole workspace is ready for its call.
    const world = callWorld()
    if (!isRefusal(postIn(world, heldIn(world)).outcome)) waiting.delete(reserveOffer.name)
    // A bid can be voided only while it is alive.
    const held = [{ type: 'AuctionHeld', data: pings.live }]
    const voided = given(auction, held).when(voidBid, { auctionId: auctionId(11), bidId: bidId(11, 1) })
    if (!isRefusal(voided.outcome)) waiting.delete(voidBid.name)
    for (let n = 0; waiting.size > 0 && n < WORLDS; n += 1) {
      const history = createHistory()
      for (let round = 0; waiting.size > 0 && round < ROUNDS; round += 1) {
        for (const [command, input] of answered) await history.executeAccepted(command, input)
        for (const step of roundOf(n * ROUNDS + round)) {
          const given = await history.executeStep(step)
          if (given && !isRefusal(given.outcome)) waiting.delete(given.command.name)
        }
      }
    }
    expect([...waiting]).toEqual([])
  }, 120_000)

  test('appends once when executed twice with one commandId, if the stream remembers commands', () =>
    fc.assert(
      fc.asyncProperty(
        stepsOf(
          commands.filter(({ entity }) => entity.deduplicatesCommands),
          40,
        ),
        async (steps) => {
          const history = createHistory()
          for (const step of steps) {
            const given = await history.executeStep(step)
            if (!given || isRefusal(given.outcome) || given.outcome.events.length === 0) continue
            const before = history.log.events.length
            const again = await history.give(given.command, given.input, given.commandId)
            expect(history.log.events.length, given.command.name).toBe(before)
            expect(again).toMatchObject({ replayed: true, position: given.outcome.position })
          }
        },
      ),
      runs,
    ))
})

describe('every stream', () => {
  test('is in the partition of the workspace of its events, or of its own id', () =>
    fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const history = createHistory()
        for (const step of steps) await history.executeStep(step)
        expect(partitionViolations(history.log.events)).toEqual([])
      }),
      runs,
    ))

  test('folds from a snapshot and its tail to the same state as from its start, and never changes an earlier state', () =>
    fc.assert(
      fc.asyncProperty(anySteps, fc.nat(), async (steps, cut) => {
        const history = createHistory()
        for (const step of steps) await history.executeStep(step)
        for (const [stream, events] of Map.groupBy(history.log.events, (event) => event.stream)) {
          const entity = entities.find(({ name }) => name === parseStreamName(stream).category)
          if (!entity) throw new Error(`No entity is called as ${stream} says.`)
          const whole = foldEvents(entity, emptyFold(entity), events)
          const head = foldEvents(entity, emptyFold(entity), events.slice(0, cut % (events.length + 1)))
          const before = plainState(head.state)
          const ops = createMemoryOperationalStore()
          await saveFold(ops, entity, stream, head)
          const restored = await loadFold(ops, entity, stream)
          expect(restored === null).toBe(head.revision < 0)
          const joined = foldEvents(entity, restored ?? head, events)
          expect(plainState(joined.state)).toEqual(plainState(whole.state))
          foldEvents(entity, head, events)
          expect(plainState(head.state)).toEqual(before)
        }
      }),
      runs,
    ))
})
