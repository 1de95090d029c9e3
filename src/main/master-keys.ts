import { ConfigurationError, type MasterKey, type MasterKeys } from './config.ts'
import { keyIdOf } from './sealing.ts'

/** Every master key that may open what is stored, the current one first. */
export function masterKeysOf({ current, previous }: MasterKeys): readonly MasterKey[] {
  return previous === null ? [current] : [current, previous]
}

/** The data is sealed under a master key that this process was not given. */
export function otherKeyError(keyId: string, keys: MasterKeys): ConfigurationError {
  const given = masterKeysOf(keys).map(({ source, key }) => `${source} is the key ${keyIdOf(key)}`)
  return new ConfigurationError(
    `The data is sealed under the master key ${keyId}, and ${given.join(', ')}; start with ${keyId}, or name it in MASTER_KEY_PREVIOUS.`,
  )
}
