import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Entity, streamOf, versionOf } from '../../src/kernel/entity.ts'
import type { RecordedEvent } from '../../src/kernel/event.ts'
import type { AnyProjection } from '../../src/kernel/projection.ts'
import { keysOf, reduce, withDerivedFields } from '../../src/kernel/projection.ts'
import { arbitraryOf, createPool } from '../support/fixtures/arbitrary.ts'
import { createHistory, stepsOf } from '../support/fixtures/history.ts'
import { type BatchPlan, crashPoints, foldableEvents, project } from '../support/fixtures/project.ts'
import { commands, entities, projections } from '../support/fixtures/registry.ts'
import { metaAt } from '../support/fixtures/sample.ts'

const ids = ['01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-00000000000b']
const deals: fc.Arbitrary<readonly BatchPlan[]> = fc.array(
  fc.record({ size: fc.nat(6), crash: fc.option(fc.constantFrom(...crashPoints), { freq: 2 }) }),
  {
    maxLength: 20,
  },
)

function entityOf(type: string): Entity | undefined {
  return entities.find(({ events }) => type in events)
}

/** Events of a projection's types in any order, about few records so that they match. */
function eventsOf(projection: AnyProjection): fc.Arbitrary<readonly RecordedEvent[]> {
  const pool = createPool()
  const one = fc.constantFrom(...Object.keys(projection.events)).chain((type) =>
    fc
      .record({
        data: arbitraryOf(projection.events[type], pool, type),
        id: fc.constantFrom(...ids),
        workspaceId: fc.constantFrom(...ids),
      })
      .map(({ data, id, workspaceId }) => ({
        type,
        data: projection.events[type].safeParse(meet(data)),
        id,
        workspaceId,
      })),
  )
  return fc.array(one, { maxLength: 40 }).map((all) =>
    all.flatMap(({ type, data, id, workspaceId }, index): readonly RecordedEvent[] => {
      if (!data.success) return []
      const entity = entityOf(type)
      const stream = streamOf(entity ?? { name: 'thing' }, id, workspaceId)
      const meta = { ...metaAt(Date.UTC(2026, 0, 1) + index * 60_000, `e${index}`), workspaceId }
      const version = entity ? versionOf(entity, type) : 1
      return [{ type, version, data: data.data, stream, revision: index, position: index * 7 + 3, meta }]
    }),
  )
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The value with each UUID replaced by one of a few. */
function meet(value: unknown): unknown {
  if (typeof value === 'string') return uuid.test(value) ? ids[value.charCodeAt(9) % ids.length] : value
  if (Array.isArray(value)) return value.map(meet)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, meet(inner)]))
}

describe.each(projections.map((projection) => [projection.name, projection] as const))('%s', (_name, projection) => {
  test('gives the same documents for any split into batches, with and without redelivery', async () => {
    const events = eventsOf(projection)
    let documents = 0
    await fc.assert(
      fc.asyncProperty(events, deals, async (generated, dealt) => {
        const log = foldableEvents(projection, generated)
        const whole = await project(projection, log)
        documents += Object.keys(whole).length
        expect(await project(projection, log, dealt)).toEqual(whole)
      }),
      { numRuns: 60 },
    )
    expect(documents).toBeGreaterThan(0)
  })

  test('creates documents that parse', () =>
    fc.assert(
      fc.property(eventsOf(projection), (generated) => {
        for (const event of generated) {
          for (const id of keysOf(projection, event)) {
            const doc = reduce(projection, null, event, id)
            if (doc === null) continue
            for (const one of [{ doc }, ...(projection.emit?.(doc, event, id) ?? [])]) {
              expect(projection.doc.parse(one.doc)).toEqual(one.doc)
            }
          }
        }
      }),
      { numRuns: 60 },
    ))
})

describe('every projection over the events of any history', () => {
  test('never throws, gives documents that parse with their derived fields, and rebuilds to the same documents', () =>
    fc.assert(
      fc.asyncProperty(stepsOf(commands, 100), deals, async (steps, dealt) => {
        const history = createHistory()
        for (const step of steps) await history.executeStep(step)
        for (const projection of projections) {
          const whole = await project(projection, history.log.events)
          for (const doc of Object.values(whole)) {
            expect(projection.doc.parse(doc), projection.name).toEqual(doc)
            expect(withDerivedFields(projection, doc), projection.name).toEqual(doc)
          }
          expect(await project(projection, history.log.events, dealt), projection.name).toEqual(whole)
        }
      }),
      { numRuns: 30 },
    ))
})
