import { type Explanation, explainCall, type ProgressListener } from '../explain/explain.ts'
import { readConfig } from './config.ts'
import { openCheckedLog } from './keyring.ts'
import { upcasts } from './registry.ts'

/** Explains a call from the log that the environment names. @throws ConfigurationError, ExplanationError, LogUnavailable */
export async function explain(
  env: Readonly<Record<string, string | undefined>>,
  callId: string,
  onTheWay: ProgressListener,
): Promise<Explanation> {
  const { eventLogUrl, masterKeys } = readConfig(env)
  const log = await openCheckedLog(eventLogUrl, masterKeys)
  try {
    return await explainCall(log, upcasts, callId, onTheWay)
  } finally {
    await log.close()
  }
}
