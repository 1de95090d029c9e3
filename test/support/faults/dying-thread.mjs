// Preloaded into a process of the platform (NODE_OPTIONS=--import): throws in the thread of the module that the file named by
// THREAD_DEATH names, as soon as it is there.
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const file = process.env.THREAD_DEATH
if (!isMainThread && file !== undefined) {
  const own = basename(process.argv[1] ?? '')
  setInterval(() => {
    if (existsSync(file) && readFileSync(file, 'utf8') === own) throw new Error('a fault of the test')
  }, 20).unref()
}
