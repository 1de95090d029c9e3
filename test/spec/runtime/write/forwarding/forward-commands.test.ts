import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { streamOf } from '../../../../../src/kernel/entity.ts'
import { definePrecondition } from '../../../../../src/kernel/precondition.ts'
import { isRefusal, refuse } from '../../../../../src/kernel/refusal.ts'
import type { Peer } from '../../../../../src/ports/peers.ts'
import { answerCommands } from '../../../../../src/runtime/write/forwarding/answer-commands.ts'
import { CONFLICTS, createDisputes } from '../../../../../src/runtime/write/forwarding/disputes.ts'
import { withForwarding } from '../../../../../src/runtime/write/forwarding/forward-commands.ts'
import { MESSAGE_BYTES, MESSAGE_COMMANDS, vocabularyOf } from '../../../../../src/runtime/write/forwarding/messages.ts'
import { ANSWER_MS, createOutbox, UNDER_WAY, WAITING } from '../../../../../src/runtime/write/forwarding/outbox.ts'
import { addToTally, beginTally, closeTally, tally } from '../../../../support/fixtures/sample.ts'
import { WORKSPACE } from '../../../../support/fixtures/spec.ts'
import {
  acceptedOutcome,
  addTexts,
  commandCall,
  createWriterFixture,
  execute,
  tallyAddition,
} from '../../../../support/fixtures/writer-fixture.ts'

const { tallyId } = tallyAddition
const OWNER: Peer = { owner: 'owner#1', url: 'http://owner' }

const requireSum = definePrecondition({
  name: 'sum',
  input: z.object({ sum: z.int() }),
  check: ({ sum }, state: { readonly sum: number }) => (state.sum === sum ? null : refuse('precondition-failed')),
})

/** Takes a message to the owner and its answer back, or loses either. */
type Carry = (message: string, deliver: () => Promise<string>, signal: AbortSignal) => Promise<string>

/** Two processes over one log, of which one forwards the commands on the disputed tally to the other. */
async function twoProcesses({
  carry = (_message, deliver) => deliver(),
  versions = ['v1', 'v1'],
}: {
  readonly carry?: Carry
  readonly versions?: readonly [string, string]
} = {}) {
  const { log, clock, writer } = createWriterFixture()
  const [local, remote] = [writer(), writer()]
  const handled = { local: 0, remote: 0 }
  const counted = (side: keyof typeof handled, one: typeof local): typeof local => ({
    ...one,
    handle(...all) {
      handled[side] += 1
      return one.handle(...all)
    },
  })
  const vocabulary = vocabularyOf([beginTally, addToTally, addTexts], [requireSum.definition])
  const disputes = createDisputes(clock)
  const messages: string[] = []
  const avoided: Peer[] = []
  const answered: Peer[] = []
  const added: number[] = []
  const outbox = createOutbox({
    client: {
      send(_peer, message, signal) {
        messages.push(message)
        const deciding = { writer: counted('remote', remote), vocabulary, version: versions[1] }
        return carry(message, () => answerCommands(deciding, message), signal)
      },
    },
    clock,
    version: versions[0],
    onAnswer: (peer) => answered.push(peer),
    onFailure: (peer) => avoided.push(peer),
  })
  const one = withForwarding(counted('local', local), {
    disputes,
    directory: { ownerOf: (subject) => (subject === tallyId ? OWNER : null) },
    outbox,
    vocabulary,
    onAppended: (_events, position) => added.push(position),
  })
  await execute(local, beginTally, { tallyId, name: 'All' })
  const dispute = (stream = streamOf(tally, tallyId, WORKSPACE)) => {
    for (let n = 0; n < CONFLICTS; n++) disputes.recordAppend(stream, true)
  }
  return { log, clock, one, remote, handled, messages, avoided, answered, added, dispute }
}

const numberOf = (message: string) => JSON.parse(message).commands.length

describe('a command on a stream that nobody else writes', () => {
  it('is decided where it came in', async () => {
    const { one, handled, messages } = await twoProcesses()
    await acceptedOutcome(execute(one, addToTally, tallyAddition))
    expect({ handled, messages }).toEqual({ handled: { local: 1, remote: 0 }, messages: [] })
  })

  it('stays there while another stream is disputed', async () => {
    const { one, handled, dispute } = await twoProcesses()
    dispute('tally-00-another')
    await acceptedOutcome(execute(one, addToTally, tallyAddition))
    expect(handled).toEqual({ local: 1, remote: 0 })
  })
})

describe('a command on a disputed stream', () => {
  it('is decided by the owner, and answered as if it had been decided here', async () => {
    const { one, log, handled, answered, added, dispute } = await twoProcesses()
    dispute()
    const outcome = await acceptedOutcome(execute(one, addToTally, tallyAddition, 'key'))
    expect(outcome).toEqual({ events: log.events.slice(1), position: await log.head(), replayed: false })
    expect(outcome.events[0]?.meta).toEqual(expect.objectContaining({ ...commandCall('key'), workspaceId: WORKSPACE }))
    expect({ handled, added }).toEqual({ handled: { local: 0, remote: 1 }, added: [outcome.position] })
    expect(answered).toEqual([OWNER])
  })

  it('is refused by the owner, by its rules or by what it requires', async () => {
    const { one, handled, dispute } = await twoProcesses()
    dispute()
    const context = { ...commandCall('key'), requires: [requireSum({ sum: 7 })] }
    expect(await one.handle(addToTally, tallyAddition, context)).toEqual(refuse('precondition-failed'))
    const met = { ...commandCall('other key'), requires: [requireSum({ sum: 0 })] }
    expect(await one.handle(addToTally, tallyAddition, met)).toMatchObject({ events: [{ type: 'TallyAdded' }] })
    expect(handled).toEqual({ local: 0, remote: 2 })
  })

  it('goes with all others of the same turn in one message, and with those that come in meanwhile in another', async () => {
    const answers = Promise.withResolvers<void>()
    const [first, last] = [Array.from({ length: UNDER_WAY }, (_, n) => n + 1), [20, 3]]
    const { one, messages, dispute } = await twoProcesses({
      carry: async (_message, deliver) => {
        await answers.promise
        return deliver()
      },
    })
    dispute()
    const all = []
    for (const count of [...first, ...last]) {
      for (let n = 0; n < count; n++) all.push(acceptedOutcome(execute(one, addToTally, tallyAddition)))
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(messages.map(numberOf)).toEqual(first)
    answers.resolve()
    await Promise.all(all)
    expect(messages.map(numberOf)).toEqual([...first, 23])
  })

  it('that the vocabulary lacks is decided here', async () => {
    const { one, handled, dispute } = await twoProcesses()
    dispute()
    expect(isRefusal(await execute(one, closeTally, { tallyId }))).toBe(false)
    expect(handled).toEqual({ local: 1, remote: 0 })
  })
})

describe('the bounds of messages', () => {
  it(`are ${MESSAGE_COMMANDS} commands`, async () => {
    const { one, messages, dispute } = await twoProcesses()
    dispute()
    await Promise.all(
      Array.from({ length: MESSAGE_COMMANDS + 1 }, () => acceptedOutcome(execute(one, addToTally, tallyAddition))),
    )
    expect(messages.map(numberOf)).toEqual([MESSAGE_COMMANDS, 1])
  })

  it(`are ${MESSAGE_BYTES} bytes`, async () => {
    const { one, handled, messages, dispute } = await twoProcesses()
    dispute()
    const name = (length: number) => ({ tallyId, name: 'x'.repeat(length) })
    await Promise.all([
      // A tally has its name already: nothing is appended.
      execute(one, beginTally, name(MESSAGE_BYTES / 2)),
      execute(one, beginTally, name(MESSAGE_BYTES / 2)),
      execute(one, beginTally, name(MESSAGE_BYTES)),
    ])
    expect(messages.map(numberOf)).toEqual([1, 1])
    for (const message of messages) expect(message.length).toBeLessThanOrEqual(MESSAGE_BYTES)
    // The largest goes nowhere; the others have names that the owner refuses to read.
    expect(handled).toEqual({ local: 3, remote: 0 })
  })

  it(`are ${WAITING} waiting commands`, async () => {
    const { one, handled, dispute } = await twoProcesses({ carry: () => new Promise(() => undefined) })
    dispute()
    for (let n = 0; n < WAITING; n++) void execute(one, addToTally, tallyAddition).catch(() => undefined)
    expect(handled.local).toBe(0)
    await acceptedOutcome(execute(one, addToTally, tallyAddition))
    expect(handled.local).toBe(1)
  })
})

describe('a command that its owner does not answer', () => {
  it.each<[string, Carry, number]>([
    ['it cannot be reached', () => Promise.reject(new Error('ECONNREFUSED')), 0],
    ['it is killed before it decides', () => Promise.reject(new Error('ECONNRESET')), 0],
    [
      'it is killed between append and answer',
      async (_message, deliver) => {
        await deliver()
        throw new Error('ECONNRESET')
      },
      1,
    ],
    ['its answer is none', async (_message, deliver) => `${await deliver()}}`, 1],
  ])('is decided here once in effect: %s', async (_what, carry, remote) => {
    const { one, log, handled, avoided, dispute } = await twoProcesses({ carry })
    dispute()
    const outcome = await acceptedOutcome(execute(one, addToTally, tallyAddition, 'key'))
    expect(outcome).toMatchObject({ events: [{ type: 'TallyAdded', revision: 1 }], replayed: remote === 1 })
    expect(log.events.map(({ type }) => type)).toEqual(['TallyBegun', 'TallyAdded'])
    expect({ handled, avoided }).toEqual({ handled: { local: 1, remote }, avoided: [OWNER] })
  })

  it('is decided here when the owner is slow, and by the owner afterwards without effect', async () => {
    const wait = Promise.withResolvers<void>()
    let aborted = false
    const { one, log, clock, remote, avoided, dispute } = await twoProcesses({
      carry: async (_message, deliver, signal) => {
        const gaveUp = Promise.withResolvers<never>()
        signal.addEventListener('abort', () => {
          aborted = true
          gaveUp.reject(new Error('aborted'))
        })
        return Promise.race([wait.promise.then(deliver), gaveUp.promise])
      },
    })
    dispute()
    const outcome = acceptedOutcome(execute(one, addToTally, tallyAddition, 'key'))
    await clock.advance(ANSWER_MS - 1)
    expect([aborted, log.events.length]).toEqual([false, 1])
    await clock.advance(1)
    expect(await outcome).toMatchObject({ events: [{ revision: 1 }], replayed: false })
    expect([aborted, avoided]).toEqual([true, [OWNER]])
    wait.resolve()
    await clock.advance(1)
    await acceptedOutcome(execute(remote, addToTally, tallyAddition, 'another key'))
    expect(log.events.map(({ meta }) => meta.commandId).slice(1)).toEqual(['key', 'another key'])
  })

  it('is decided here when the code of the owner is another', async () => {
    const { one, handled, avoided, dispute } = await twoProcesses({ versions: ['v1', 'v2'] })
    dispute()
    await acceptedOutcome(execute(one, addToTally, tallyAddition))
    expect({ handled, avoided }).toEqual({ handled: { local: 1, remote: 0 }, avoided: [OWNER] })
  })

  it('is decided here when its input is not one, and others of its message by the owner', async () => {
    const { one, handled, avoided, dispute } = await twoProcesses()
    dispute()
    const [bad, good] = await Promise.allSettled([
      execute(one, addToTally, { tallyId, amount: -1 }),
      acceptedOutcome(execute(one, addToTally, tallyAddition)),
    ])
    expect([bad?.status, good?.status]).toEqual(['fulfilled', 'fulfilled'])
    expect({ handled, avoided }).toEqual({ handled: { local: 1, remote: 1 }, avoided: [] })
  })
})
