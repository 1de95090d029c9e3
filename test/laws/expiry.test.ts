import { expect, test } from 'vitest'
import { type AnyProjection, keysOf, reduce } from '../../src/kernel/projection.ts'
import type { Doc } from '../../src/ports/read-store.ts'
import { createHistory, type GeneratedStep } from '../support/fixtures/history.ts'
import { commands, projections } from '../support/fixtures/registry.ts'

const expiring = projections.filter(({ expiresAt }) => expiresAt !== null)
const WORLDS = 4
const ROUNDS = 40

/** Every command many times, so that most find a record to act on. */
const stepsOf = (world: number): readonly GeneratedStep[] =>
  Array.from({ length: ROUNDS }, (_, round) =>
    commands.map(({ name }, index) => ({ name, seed: (world * ROUNDS + round) * 1_009 + index })),
  ).flat()

/** The document unless it has expired by an instant. */
function aliveAt({ expiresAt }: AnyProjection, doc: Doc | null, at: string): Doc | null {
  return doc && (expiresAt?.(doc) ?? Number.POSITIVE_INFINITY) > Date.parse(at) ? doc : null
}

test('an event folds to the same whether a document that has expired before it is deleted or not', async () => {
  const met = new Set<string>()
  for (let world = 0; world < WORLDS; world++) {
    const history = createHistory()
    for (const step of stepsOf(world)) await history.executeStep(step)
    for (const projection of expiring) {
      const docs = new Map<string, Doc | null>()
      for (const event of history.log.events) {
        if (!(event.type in projection.events)) continue
        for (const id of keysOf(projection, event)) {
          const before = docs.get(id) ?? null
          const next = reduce(projection, before, event, id)
          docs.set(id, next)
          if (before === null || aliveAt(projection, before, event.meta.at)) continue
          met.add(projection.name)
          const afresh = reduce(projection, null, event, id)
          const [one, other] = [next, afresh].map((doc) => aliveAt(projection, doc, event.meta.at))
          expect(one, `${event.type} on an expired document of ${projection.name}`).toEqual(other)
        }
      }
    }
  }
  // An expired invitation is never touched again here: its commands refuse it.
  expect(met).toContain('sessions')
}, 60_000)
