import { describe, expect, it } from 'vitest'
import { skipSteps, unroutedStep } from '../../../src/domain/calls/story.ts'
import { reasonOf, reasonSentence } from '../../../src/domain/routing/reasons.ts'
import { skipReason, unroutedReason } from '../../../src/domain/shared/call-codes.ts'
import { nthCallId } from '../../support/fixtures/call-world.ts'
import { NOW } from '../../support/fixtures/spec.ts'

describe('a reason', () => {
  it('has the owner `platform` only for an unknown code', () => {
    const owners = [...unroutedReason.options, ...skipReason.options].map((code) => reasonOf(code).owner)
    expect(owners).toHaveLength(26)
    expect(owners).not.toContain('platform')
    expect(reasonOf('caller_asleep')).toEqual({ label: 'Not routed', owner: 'platform' })
    expect(reasonOf('constructor').owner).toBe('platform')
  })

  it('keeps its recorded sentence for an unknown code, and gets a generic one where none was recorded', () => {
    expect(reasonSentence('caller_asleep', 'Asleep.')).toBe('Asleep.')
    expect(reasonSentence('caller_asleep', '')).toBe('The call was not routed (caller_asleep).')
  })

  it('appears in the waterfall with label and owner, also when a later version recorded it', () => {
    const later = JSON.parse(
      '{"reason":"caller_asleep","sentence":"","action":"hangup","message":null,"forwardE164":null}',
    )
    expect(
      unroutedStep({ callId: nthCallId(1), carrierCallId: 'c1', occurredAt: NOW, skipped: [], unrouted: later }),
    ).toMatchObject({
      title: 'Not routed',
      sentence: 'The call was not routed (caller_asleep).',
      detail: { reason: 'caller_asleep', owner: 'platform' },
    })
    const skip = {
      targetId: nthCallId(2),
      targetName: 'Desk',
      reason: 'closed',
      sentence: 'Closed.',
      figures: {},
    } as const
    expect(skipSteps([skip], NOW, new Set())).toMatchObject([
      { title: 'Skipped Desk', detail: { reason: 'closed', label: 'Outside target hours', owner: 'target' } },
    ])
  })
})
