import { expect, test } from 'vitest'
import { streamOf } from '../../../../src/kernel/entity.ts'
import { addToTally, beginTally, tally } from '../../../support/fixtures/sample.ts'
import { WORKSPACE } from '../../../support/fixtures/spec.ts'
import { createWriterFixture, execute, tallyAddition } from '../../../support/fixtures/writer-fixture.ts'

const stream = streamOf(tally, tallyAddition.tallyId, WORKSPACE)

test('the recorded time of a stream never goes back, whichever clock is behind', async () => {
  const { log, clock, writer } = createWriterFixture()
  const ahead = { ...clock, now: () => clock.now() + 60_000 }
  const [fast, slow] = [writer({ clock: ahead }), writer()]
  await execute(fast, beginTally, { tallyId: tallyAddition.tallyId, name: 'All' })
  await execute(slow, addToTally, tallyAddition)
  await clock.jump(90_000)
  await execute(slow, addToTally, tallyAddition)
  const instants = (await log.read(stream, 0)).map(({ meta }) => Date.parse(meta.at))
  const [begun = 0] = instants
  expect(instants).toEqual([begun, begun, begun + 30_000])
})
