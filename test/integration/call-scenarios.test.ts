import { afterEach, describe, expect, test } from 'vitest'
import { comparableFacts, playScenario, SCENARIOS } from '../support/fixtures/call-scenarios.ts'
import type { Rig } from '../support/fixtures/carrier-rig.ts'
import { openSimulatorRig } from '../support/fixtures/simulator-rig.ts'
import { openTelnyxRig } from '../support/fixtures/telnyx-rig.ts'

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
    const simulated = await opened(openSimulatorRig())
    const real = await opened(openTelnyxRig())
    await playScenario(simulated, scenario)
    await playScenario(real, scenario)
    const [expected, given] = [simulated.events(), real.events()]
    expect(given.calls.map(({ type }) => type)).toEqual(expected.calls.map(({ type }) => type))
    expect(expected.calls.filter(({ type }) => type === 'CallEnded')).toHaveLength(1)
    expect(comparableFacts(given.calls)).toEqual(comparableFacts(expected.calls))
    expect(comparableFacts(given.ledger)).toEqual(comparableFacts(expected.ledger))
  })
})
