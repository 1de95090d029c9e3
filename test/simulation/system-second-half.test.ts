import { describe } from 'vitest'
import { halves, testRuns } from './system-runs.ts'

describe('the whole system in simulated time under faults', () => {
  testRuns(halves[1])
})
