import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeSetups, waitUntil } from '../../support/e2e/server.ts'
import { createFaultEnvironment, type FaultEnvironment } from '../../support/faults/environment.ts'
import { createPlatformProcess } from '../../support/faults/platform-process.ts'

const PRELOADED = join(import.meta.dirname, '../../support/faults/dying-thread.mjs')

describe.each(storeSetups)('over $name', (setup) => {
  let environment: FaultEnvironment
  beforeAll(async () => {
    environment = await createFaultEnvironment(setup)
  })
  afterAll(() => environment.remove())

  test.each(['query-thread', 'projector-thread'])(
    'a dead %s ends the process with a sentence and a code',
    async (name) => {
      const death = join(environment.dataDir, '..', name)
      const options = { NODE_OPTIONS: `--import=${PRELOADED}`, THREAD_DEATH: death }
      const platform = createPlatformProcess({ ...environment.env, ...options })
      platform.start()
      await platform.waitUntilAnswering()
      writeFileSync(death, `${name}.ts`)
      const code = await waitUntil('The process has ended', async () => platform.endedWith())
      const sentence = `Ringledger ends: The ${name.replace('-', ' ')} has died: Error: a fault of the test`
      expect(platform.lastOutput().split('\n')).toContain(sentence)
      expect(code).toBe(70)
    },
  )
})
