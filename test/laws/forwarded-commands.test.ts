import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as main from '../../src/main/commands.ts'
import { codeVersion } from '../../src/main/peers.ts'
import { arbitraryOf, createPool } from '../support/fixtures/arbitrary.ts'
import { commands } from '../support/fixtures/registry.ts'
import * as sample from '../support/fixtures/sample.ts'

const samples = new Set<unknown>(Object.values(sample))
const own = commands.filter((command) => !samples.has(command))
const INPUTS = 100

/** A value with 0 for -0, which JSON does not know, nor the log. */
function asJson(value: unknown): unknown {
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(asJson)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, its]) => [key, asJson(its)]))
}

test('every command is registered, each under a name of its own', () => {
  expect(new Set(main.commands)).toEqual(new Set(own))
  expect(new Set(own.map(({ name }) => name)).size).toBe(own.length)
  expect(new Set(main.preconditions.map(({ name }) => name)).size).toBe(main.preconditions.length)
})

test.each(own.map((command) => [command.name, command] as const))(
  'the input of %s is the same after a way through JSON and its schema',
  (_name, { input }) => {
    const parsed = fc
      .sample(arbitraryOf(input, createPool()), { seed: 1, numRuns: INPUTS })
      .map((raw) => input.safeParse(raw))
      .filter(({ success }) => success)
      .map(({ data }) => data)
    expect(parsed.length).toBeGreaterThan(0)
    for (const one of parsed) expect(input.parse(JSON.parse(JSON.stringify(one)))).toEqual(asJson(one))
  },
)

test('a command that is never forwarded is on a stream that does not know commands by their id', () => {
  for (const { entity } of main.LOCAL_COMMANDS) expect(entity.deduplicatesCommands).toBe(false)
})

test('the version of the code is the same at each start', () => {
  expect(codeVersion()).toMatch(/^[0-9a-f]{16}$/)
  expect(codeVersion()).toBe(codeVersion())
})
