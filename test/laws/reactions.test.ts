import { describe, expect, test } from 'vitest'
import { reactions } from '../../src/main/platform-effects.ts'
import { entities } from '../support/fixtures/registry.ts'

const types = new Set(entities.flatMap(({ events }) => Object.keys(events)))

describe.each(reactions.map((reaction) => [reaction.name, reaction] as const))('%s', (_name, { on, doneBy }) => {
  test('knows the events that show that a step is done', () => {
    for (const [type, successors] of Object.entries(doneBy)) {
      expect(Object.keys(on), type).toContain(type)
      for (const successor of successors ?? []) expect(types, successor).toContain(successor)
    }
  })
})
