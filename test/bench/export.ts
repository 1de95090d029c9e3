import { Readable } from 'node:stream'
import fastify from 'fastify'
import { openLogger } from '../../src/adapters/http/logger.ts'
import { EXPORT } from '../../src/domain/shared/limits.ts'
import { openApp } from '../../src/main/app.ts'
import { readConfig } from '../../src/main/config.ts'
import { HOST } from './api-server.ts'
import { alternate, type Figure, figureOf, type Pair, secondsOf } from './measure.ts'
import { storeCalls } from './stored-calls.ts'
import { withDirectory } from './temp-directory.ts'

const KEY = 'svc_test_bench'
const FORTNIGHT_MS = 14 * 86_400_000
/** Megabytes that an export may use above the idle process. */
const BOUND_MB = 150
const SAMPLE_MS = 5

/** Reads a response to its end without keeping it; returns its size in bytes. */
async function drain(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { ok, status, body } = await fetch(url, { headers })
  if (!ok || !body) throw new Error(`The export answered ${status}.`)
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return bytes
}

/** Peak memory (MB) of the process during a piece of work, above the memory before it. */
async function peakMemoryOf(work: () => Promise<unknown>): Promise<number> {
  const idle = process.memoryUsage.rss()
  let most = idle
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, SAMPLE_MS)
  await work()
  clearInterval(timer)
  return (most - idle) / 2 ** 20
}

/** An export over HTTP, compared with the same bytes in the same chunks from bare Fastify; and its memory. */
export function callsExport(calls: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const stored = await storeCalls(directory, [KEY])
    await stored.growTo(calls)
    stored.raiseHead()
    const env = {
      PORT: '0',
      DATA_DIR: directory,
      LOG_LEVEL: 'silent',
      SANDBOX_SEED: '0',
      // An export waits until its own audit entry can be read, so it needs a projector.
      ROLES: 'command-api,query-api,projector',
    }
    const app = await openApp(readConfig(env), openLogger({ level: 'silent' }))
    const from = new Date(Date.now() - FORTNIGHT_MS).toISOString()
    const list = `${await app.listen()}/api/v1/calls`
    const url = `${list}/export.csv?from=${from}`
    const headers = { authorization: `Bearer ${KEY}` }
    // The first request loads the columns, which then belong to the idle process.
    await drain(`${list}?from=${from}`, headers)
    const memory: Pair[] = [{ ours: await peakMemoryOf(() => drain(url, headers)), ceiling: BOUND_MB }]
    const file = Buffer.from(await (await fetch(url, { headers })).arrayBuffer())
    const rows = file.toString().split('\r\n').length - 2
    if (rows !== Math.min(calls, EXPORT.calls)) throw new Error(`The export has ${rows} rows.`)
    const batch = Math.ceil((file.length * EXPORT.batch) / rows)
    const parts = Array.from({ length: Math.ceil(file.length / batch) }, (_, n) =>
      file.subarray(n * batch, (n + 1) * batch),
    )
    const bare = fastify()
    bare.get('/', (_request, reply) => reply.type('text/csv').send(Readable.from(parts, { objectMode: false })))
    const bareUrl = await bare.listen({ port: 0, host: HOST })
    const rate = async (work: () => Promise<number>) => {
      let bytes = 0
      const seconds = await secondsOf(async () => {
        bytes = await work()
      })
      return bytes / seconds / 2 ** 20
    }
    const pairs = await alternate(
      () => rate(() => drain(url, headers)),
      () => rate(() => drain(bareUrl, {})),
    )
    await bare.close()
    await app.close()
    const name = `export of ${rows.toLocaleString('en-US')} calls`
    return [
      figureOf(name, 'MB/s', { atLeast: 0.5 }, pairs),
      figureOf(`${name}, memory over idle`, 'MB', { atMost: 1 }, memory),
    ]
  })
}
