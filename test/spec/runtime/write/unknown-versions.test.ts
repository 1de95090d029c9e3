import { describe, expect, it } from 'vitest'
import { routeCall } from '../../../../commands/routing/route-call.ts'
import { workspace } from '../../../../src/domain/configuration/workspace.ts'
import { evolve, streamOf, UnknownEventVersion, upcast } from '../../../../src/kernel/entity.ts'
import type { EventToAppend } from '../../../../src/kernel/event.ts'
import { withOutdatedWatch } from '../../../../src/runtime/write/outdated-watch.ts'
import { changeSteps } from '../../../support/fixtures/call-world.ts'
import { added, addToTally, beginTally, metaAt, tally } from '../../../support/fixtures/sample.ts'
import { NOW, recordedEvents, WORKSPACE } from '../../../support/fixtures/spec.ts'
import {
  acceptedOutcome,
  arrival,
  createWriterFixture,
  eventsOfType,
  execute,
  seedLiveCampaign,
  tallyAddition,
} from '../../../support/fixtures/writer-fixture.ts'

/** An event as a later version of the code writes it. */
const later = (type = 'TallyAdded', version = 2): EventToAppend => ({
  ...added(1),
  type,
  version,
  meta: metaAt(Date.parse(NOW), `later ${type}`),
})
const SENTENCE = 'An event TallyAdded has version 2, and this process knows versions up to 1.'

async function fixture() {
  const { log, lookUp, writer, ...rest } = createWriterFixture()
  const one = withOutdatedWatch(writer())
  const tallyId = tallyAddition.tallyId
  await execute(one, beginTally, { tallyId, name: 'All' })
  const stream = streamOf(tally, tallyId, WORKSPACE)
  return { ...rest, log, lookUp, one, stream, tallyId }
}

describe('an event of a version that this code does not know', () => {
  it.each([
    ['of a known type', later(), SENTENCE],
    [
      'of a new type',
      later('TallyDoubled', 1),
      'An event TallyDoubled has version 1, and this process does not know that type.',
    ],
  ])('%s is not folded', (_what, event, sentence) => {
    const [recorded] = recordedEvents(tally, [event])
    if (!recorded) throw new Error('There is no event.')
    expect(() => evolve(tally, tally.initial, { ...recorded, version: event.version })).toThrow(
      new UnknownEventVersion(sentence),
    )
  })

  it('is not upcast, while every older one is', () => {
    const entity = {
      upcasts: { TallyAdded: [(data: unknown) => ({ first: data }), (data: unknown) => ({ second: data })] },
    }
    const event = (version: number) => ({ type: 'TallyAdded', version, data: version })
    expect(upcast(entity, event(1))).toMatchObject({ version: 3, data: { second: { first: 1 } } })
    expect(upcast(entity, event(2))).toMatchObject({ version: 3, data: { second: 2 } })
    expect(upcast(entity, event(3))).toMatchObject({ version: 3, data: 3 })
    expect(() => upcast(entity, event(4))).toThrow(UnknownEventVersion)
  })

  it('fails commands on its stream, whether or not a fold from before it is known', async () => {
    const { log, one, stream } = await fixture()
    await log.append(stream, 0, [later()])
    const head = await log.head()
    expect(one.outdated()).toBeNull()
    await expect(execute(one, addToTally, tallyAddition)).rejects.toThrow(SENTENCE)
    await expect(execute(one, addToTally, { ...tallyAddition, amount: 2 })).rejects.toThrow(UnknownEventVersion)
    await expect(one.stateOf(tally, tallyAddition.tallyId, WORKSPACE)).rejects.toThrow(UnknownEventVersion)
    expect(await log.head()).toBe(head)
    expect(one.outdated()).toBe(SENTENCE)
  })

  it('leaves commands on other streams alone', async () => {
    const { log, one, stream } = await fixture()
    await log.append(stream, 0, [later()])
    await expect(execute(one, addToTally, tallyAddition)).rejects.toThrow(UnknownEventVersion)
    const other = { ...tallyAddition, tallyId: WORKSPACE }
    await acceptedOutcome(execute(one, beginTally, { tallyId: other.tallyId, name: 'Other' }))
    expect(await acceptedOutcome(execute(one, addToTally, other))).toMatchObject({ events: [{ type: 'TallyAdded' }] })
  })

  it('fails decisions that read its stream', async () => {
    const { log, one } = await fixture()
    await seedLiveCampaign(log)
    await acceptedOutcome(execute(one, routeCall, arrival(1)))
    const configuration = streamOf(workspace, WORKSPACE)
    const revision = log.events.filter(({ stream }) => stream === configuration).length - 1
    await log.append(configuration, revision, [later('WorkspaceMoved', 1)])
    await expect(execute(one, routeCall, arrival(2))).rejects.toThrow(UnknownEventVersion)
    expect(eventsOfType(log.events, 'CallAdmitted')).toHaveLength(1)
    await expect(
      one.dryRun(() => ({ command: routeCall, input: arrival(3) }), {
        workspaceId: WORKSPACE,
        actor: { type: 'system', id: null, name: 'Spec' },
        commandId: 'dry',
        correlationId: 'dry',
        causationId: null,
        surface: 'spec',
        ip: null,
      }),
    ).rejects.toThrow(UnknownEventVersion)
    expect(one.outdated()).toBe('An event WorkspaceMoved has version 1, and this process does not know that type.')
  })

  it('fails decisions that look it up', async () => {
    const { log, one, lookUp } = await fixture()
    await seedLiveCampaign(log, changeSteps.campaign({ repeatCallerPolicy: 'block', dedupeWindowSeconds: 86_400 }))
    lookUp.mockRejectedValue(new UnknownEventVersion(SENTENCE))
    await expect(execute(one, routeCall, arrival(1))).rejects.toThrow(UnknownEventVersion)
    expect(one.outdated()).toBe(SENTENCE)
  })
})
