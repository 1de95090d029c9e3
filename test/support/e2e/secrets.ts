import { readConfig } from '../../../src/main/config.ts'
import { openRoot } from '../../../src/main/keyring.ts'
import { createSecrets } from '../../../src/main/secrets.ts'
import { openLog } from '../../../src/main/stores.ts'
import { systemClock as clock, systemRandom as random } from '../../../src/main/system.ts'
import type { Secrets } from '../../../src/ports/secrets.ts'

/** What seals and derives on the platform of an environment. */
export async function secretsOf(env: Readonly<Record<string, string>>): Promise<Secrets> {
  const { eventLogUrl, masterKeys } = readConfig(env)
  const log = await openLog(eventLogUrl)
  try {
    return createSecrets(await openRoot(log, masterKeys, { clock, random }), random)
  } finally {
    await log.close()
  }
}
