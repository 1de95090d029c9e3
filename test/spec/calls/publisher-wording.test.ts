import { describe, expect, it } from 'vitest'
import { publisherSentence } from '../../../src/domain/calls/publisher-wording.ts'
import { skipReason, unroutedReason } from '../../../src/domain/shared/call-codes.ts'

const NOTHING = 'The call was not connected to a buyer.'

describe('the sentence for publishers', () => {
  it.each([
    ['workspace_inactive', 'The campaign was not accepting calls.'],
    ['workspace_unfunded', 'The campaign was not accepting calls.'],
    ['campaign_not_live', 'The campaign was not accepting calls.'],
    ['caller_blocked', 'The caller is blocked.'],
    ['anonymous_blocked', 'The caller hid the number.'],
    ['campaign_closed', "The call came outside the campaign's hours."],
    ['campaign_capped', "The campaign's call cap was reached."],
    ['repeat_blocked', 'The caller had called before.'],
    ['no_targets', 'No buyer was available.'],
    ['no_eligible_target', 'No buyer was available.'],
    ['all_targets_failed', 'No buyer answered.'],
  ])('of the reason %s', (code, sentence) => {
    expect(publisherSentence(code)).toBe(sentence)
  })

  it('is specific for every unrouted reason', () => {
    for (const code of unroutedReason.options) expect(publisherSentence(code)).not.toBe(NOTHING)
  })

  it.each([...skipReason.options, 'something_new', '', 'constructor', '__proto__'])(
    'does not reveal the code %s',
    (code) => {
      expect(publisherSentence(code)).toBe(NOTHING)
    },
  )
})
