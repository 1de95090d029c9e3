// node test/bench/freeze-trace.ts: freezes the appends of today's calls as the trace that later ones are compared with.
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { TRACE_CALLS, TRACE_FILE } from './call-trace.ts'
import { openEngine } from './engine.ts'
import { withDirectory } from './temp-directory.ts'

const AT_ONCE = 64
/** Calls before, whose streams and folds those of the trace find. */
const BEFORE = 100

await withDirectory(async (directory) => {
  const engine = await openEngine(directory)
  await engine.play(BEFORE, AT_ONCE)
  const appends = await engine.recordAppends(() => engine.play(TRACE_CALLS, AT_ONCE))
  const lines = appends.map((append) => `${JSON.stringify(append)}\n`)
  writeFileSync(TRACE_FILE, gzipSync(lines.join(''), { level: 9 }))
  await engine.close()
})
