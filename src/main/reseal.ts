import { readConfig } from './config.ts'
import { resealRoot } from './keyring.ts'
import { keyIdOf } from './sealing.ts'
import { openLog, requireLogFile } from './stores.ts'
import { systemClock as clock, systemRandom as random } from './system.ts'

/**
 * Seals the data that the environment names under its current master key; servers may run meanwhile. Resolves to the id of that
 * key, and whether the data was sealed under another one. @throws ConfigurationError, LogUnavailable
 */
export async function reseal(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly keyId: string; readonly changed: boolean }> {
  const { eventLogUrl, masterKeys } = readConfig(env)
  requireLogFile(eventLogUrl)
  const log = await openLog(eventLogUrl)
  try {
    return { keyId: keyIdOf(masterKeys.current.key), changed: await resealRoot(log, masterKeys, { clock, random }) }
  } finally {
    await log.close()
  }
}
