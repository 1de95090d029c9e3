import { describe, expect, it } from 'vitest'
import { call } from '../../../src/domain/calls/call.ts'
import { partitionOf } from '../../../src/kernel/partition.ts'
import { timers } from '../../../src/main/registry.ts'
import { callWorld, changeSteps, nthCallId } from '../../support/fixtures/call-world.ts'
import { type CallScript, playCalls } from '../../support/fixtures/play-call.ts'
import { project } from '../../support/fixtures/project.ts'
import { NOW, recordedEvents, WORKSPACE } from '../../support/fixtures/spec.ts'

const world = callWorld(changeSteps.campaign({ bufferSeconds: 300 }))
const due = (script: CallScript) => project(timers, recordedEvents(call, playCalls(world, script).calls))
const callId = nthCallId(1)
const seconds = (n: number) => Date.parse(NOW) + n * 1_000

describe('timers', () => {
  it('schedules a check of a call that lasts longer than any carrier allows', async () => {
    expect(await due({ overAfter: null })).toEqual({
      [`stuck:${callId}`]: {
        workspaceId: WORKSPACE,
        partition: partitionOf(WORKSPACE),
        kind: 'stuck',
        dueAt: seconds(14_400),
        subjectId: callId,
        amountCents: null,
      },
    })
  })

  it('schedules settlement and usage, with its amount, when a connected call ends', async () => {
    expect(await due({ settled: false })).toEqual({
      [`settle:${callId}`]: {
        workspaceId: WORKSPACE,
        partition: partitionOf(WORKSPACE),
        kind: 'settle',
        dueAt: seconds(363),
        subjectId: callId,
        amountCents: null,
      },
      [`usage:${callId}`]: {
        workspaceId: WORKSPACE,
        partition: partitionOf(WORKSPACE),
        kind: 'usage',
        dueAt: seconds(183),
        subjectId: callId,
        amountCents: 3,
      },
    })
  })

  it('schedules nothing once both are done, nor after a call that did not connect', async () => {
    expect(await due({})).toEqual({})
    expect(await due({ dials: [], overAfter: 5 })).toEqual({})
  })
})
