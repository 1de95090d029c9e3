import { explainById, type ProgressListener } from '../explain/explain.ts'
import type { Explanation } from '../explain/explanation.ts'
import { readConfig } from './config.ts'
import { openCheckedLog } from './keyring.ts'
import { upcasts } from './registry.ts'

/** Explains a call or an auction from the log that the environment names. @throws ConfigurationError, ExplanationError, LogUnavailable */
export async function explain(
  env: Readonly<Record<string, string | undefined>>,
  id: string,
  onTheWay: ProgressListener,
): Promise<Explanation> {
  const { eventLogUrl, masterKeys } = readConfig(env)
  const log = await openCheckedLog(eventLogUrl, masterKeys)
  try {
    return await explainById(log, upcasts, id, onTheWay)
  } finally {
    await log.close()
  }
}
