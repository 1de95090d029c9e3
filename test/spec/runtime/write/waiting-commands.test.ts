import { expect, it } from 'vitest'
import { beginTally } from '../../../support/fixtures/sample.ts'
import {
  acceptedOutcome,
  createWriterFixture,
  execute,
  tallyAddition,
} from '../../../support/fixtures/writer-fixture.ts'
import { flushEventLoop } from '../../../support/memory/clock.ts'

it('the writer tells how many commands wait for the turn of their stream', async () => {
  const { log, writer } = createWriterFixture()
  const gate = Promise.withResolvers<void>()
  const one = writer({
    log: {
      ...log,
      async append(...parameters) {
        await gate.promise
        return log.append(...parameters)
      },
    },
  })
  const begin = (tallyId: string) => execute(one, beginTally, { tallyId, name: 'All' })
  const other = tallyAddition.tallyId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
  expect(one.waitingCommands()).toEqual({ total: 0, deepest: 0 })
  const first = [begin(tallyAddition.tallyId), begin(other)]
  await flushEventLoop()
  const behind = [begin(tallyAddition.tallyId), begin(tallyAddition.tallyId), begin(other)]
  expect(one.waitingCommands()).toEqual({ total: 3, deepest: 2 })
  gate.resolve()
  for (const command of [...first, ...behind]) await acceptedOutcome(command)
  expect(one.waitingCommands()).toEqual({ total: 0, deepest: 0 })
})
