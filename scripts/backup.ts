import { parseArgs } from 'node:util'
import { backUp, restore } from '../src/main/backup.ts'
import { processEnvironment } from '../src/main/config.ts'

const usage = `Usage: npm run backup -- <new directory>
       npm run backup -- --restore <directory of a backup>`

const megabytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`

function run(directory: string, isRestore: boolean): void {
  const env = processEnvironment()
  const { at, files } = isRestore ? restore(env, directory) : backUp(env, directory, new Date())
  for (const { name, bytes, sha256 } of files) process.stdout.write(`${name}: ${megabytes(bytes)}, sha256 ${sha256}\n`)
  const sentence = isRestore
    ? `The backup of ${at} is restored; npm run verify checks what it holds.`
    : `The backup is complete.`
  process.stdout.write(`${sentence}\n`)
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { restore: { type: 'boolean', default: false } },
  })
  const [directory, ...more] = positionals
  if (directory === undefined || more.length > 0) throw new TypeError(usage)
  run(directory, values.restore)
} catch (error) {
  process.stderr.write(
    `${error instanceof TypeError ? usage : error instanceof Error ? error.message : String(error)}\n`,
  )
  process.exitCode = 1
}
