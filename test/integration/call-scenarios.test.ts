import { afterEach, describe, expect, test } from 'vitest'
import { facts, play, SCENARIOS } from '../support/fixtures/call-scenarios.ts'
import { type Rig, simulatorRig, telnyxRig } from '../support/fixtures/carrier-rig.ts'

const open: Rig[] = []
afterEach(async () => {
  for (const rig of open.splice(0)) await rig.close()
})

async function opened<Kind extends Rig>(rig: Promise<Kind>): Promise<Kind> {
  const one = await rig
  open.push(one)
  return one
}

describe('every carrier makes the same of a call', () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))('%s', async (_name, scenario) => {
    const simulated = await opened(simulatorRig())
    const real = await opened(telnyxRig())
    await play(simulated, scenario)
    await play(real, scenario)
    const [expected, given] = [simulated.events(), real.events()]
    expect(given.calls.map(({ type }) => type)).toEqual(expected.calls.map(({ type }) => type))
    expect(expected.calls.filter(({ type }) => type === 'CallEnded')).toHaveLength(1)
    expect(facts(given.calls)).toEqual(facts(expected.calls))
    expect(facts(given.ledger)).toEqual(facts(expected.ledger))
  })
})
