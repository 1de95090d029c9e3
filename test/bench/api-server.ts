import { openLogger } from '../../src/adapters/http/logger.ts'
import { openHttpServer } from '../../src/adapters/http/server.ts'
import { createAuthenticator } from '../../src/api/access.ts'
import { createCursors } from '../../src/main/cursors.ts'
import type { ReadSide } from '../../src/main/read-side/read-side.ts'
import { systemClock as clock, systemRandom as random } from '../../src/main/system.ts'
import type { ApiRoute } from '../../src/ports/api.ts'
import type { RateLimiter } from '../../src/ports/rate-limiter.ts'

export const HOST = '127.0.0.1'

/** No limit: the benchmark measures the speed of an answer, not the rate of a credential. */
const limiter: RateLimiter = {
  consume: async (_id, { limit }) => ({ allowed: true, remaining: limit, nextMs: 0 }),
  peek: async (_id, { limit }) => ({ allowed: true, remaining: limit, nextMs: 0 }),
}

/** Serves routes as the product does, without rate limits. */
export async function serve(readSide: Pick<ReadSide, 'credentials'>, routes: readonly ApiRoute[]) {
  const server = await openHttpServer({
    title: 'Bench',
    version: '1.0.0',
    routes,
    authenticate: createAuthenticator(readSide.credentials, clock),
    cursors: createCursors(Buffer.alloc(32)),
    position: () => 0,
    readiness: async () => ({ ready: true, problems: [], warnings: [] }),
    metrics: async () => ({ contentType: 'text/plain', body: '' }),
    metricsToken: null,
    log: openLogger({ level: 'silent' }),
    clock,
    random,
    trustProxy: false,
    limiter,
    unavailableAfterSeconds: 1,
    pressure: {},
  })
  const port = await server.listen(0, HOST)
  return { baseUrl: `http://${HOST}:${port}`, close: () => server.close(1_000) }
}
