import { processEnvironment } from '../src/main/config.ts'
import { reseal } from '../src/main/reseal.ts'

try {
  const { keyId, changed } = await reseal(processEnvironment())
  const sentence = changed
    ? `is sealed under the master key ${keyId} now`
    : `was sealed under the master key ${keyId} already`
  process.stdout.write(`The data ${sentence}; MASTER_KEY_PREVIOUS is not needed any more.\n`)
} catch (error) {
  process.stderr.write(`The data was not resealed: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
