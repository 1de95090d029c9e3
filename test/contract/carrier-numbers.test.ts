import { createTelnyxNumbers } from '../../src/adapters/telnyx/numbers.ts'
import { openSimulatedNumbers } from '../support/fixtures/simulated-numbers.ts'
import { startTelnyxDouble } from '../support/fixtures/telnyx-double.ts'
import { createManualClock } from '../support/memory/clock.ts'
import { createMemoryLog } from '../support/memory/event-log.ts'
import { createMemoryOperationalStore } from '../support/memory/operational-store.ts'
import { createSeededRandom } from '../support/memory/random.ts'
import { carrierNumbersContract } from './carrier-numbers.contract.ts'

carrierNumbersContract('the simulator', async () => {
  const [log, ops, clock, random] = [
    createMemoryLog(),
    createMemoryOperationalStore(),
    createManualClock(),
    createSeededRandom(1),
  ]
  return { numbers: openSimulatedNumbers({ log, ops, clock, random }), close: async () => {} }
})

carrierNumbersContract('Telnyx', async () => {
  const double = await startTelnyxDouble()
  const { apiKey, connectionId, apiBase, close } = double
  return { numbers: createTelnyxNumbers({ apiKey, connectionId, apiBase }), close }
})
