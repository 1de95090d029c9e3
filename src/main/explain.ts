import { type Explanation, explainCall, type ProgressListener } from '../explain/explain.ts'
import { readConfig } from './config.ts'
import { upcasts } from './registry.ts'
import { openLogReader } from './stores.ts'

/** Explains a call from the log that the environment names. @throws ConfigurationError, ExplanationError, LogUnavailable */
export async function explain(
  env: Readonly<Record<string, string | undefined>>,
  callId: string,
  onTheWay: ProgressListener,
): Promise<Explanation> {
  const log = await openLogReader(readConfig(env).eventLogUrl)
  try {
    return await explainCall(log, upcasts, callId, onTheWay)
  } finally {
    await log.close()
  }
}
