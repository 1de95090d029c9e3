import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Append } from './engine.ts'

/** Calls whose appends the trace has. */
export const TRACE_CALLS = 300

/** One append a line, as JSON. */
export const TRACE_FILE = join(import.meta.dirname, 'call-trace.ndjson.gz')

/**
 * The frozen trace: the appends of 300 instant calls as the engine of 27 November 2026 made them, in order. What calls cost is
 * compared with them, so that a call that appends more than it did then counts as slower. `freeze-trace.ts` made it.
 */
export function readTrace(): readonly Append[] {
  const lines = gunzipSync(readFileSync(TRACE_FILE)).toString().trimEnd().split('\n')
  return lines.map((line): Append => JSON.parse(line))
}
