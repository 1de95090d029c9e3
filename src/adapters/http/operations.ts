import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { refuse } from '../../kernel/refusal.ts'
import type { Readiness } from '../../ports/api.ts'
import type { SendRefusal } from './envelope.ts'
import { bearerOf } from './headers.ts'

/** What the operations routes tell about the process. */
export interface Operations {
  readonly readiness: () => Promise<Readiness>
  /** The metrics in Prometheus's text form. */
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>
  /** The bearer token that `/metrics` asks for; null for none. */
  readonly metricsToken: string | null
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Whether two secrets are the same, in a time that does not depend on how much of them is. */
function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other))
}

/** Probes and scrapes answer under pressure too: that is when they are needed. */
const probeOptions = { schema: { hide: true }, config: { pressureHandler: () => undefined } }

/** Mounts `/healthz`, `/readyz` and `/metrics` (Supplement §2). */
export function mountOperations(server: FastifyInstance, send: SendRefusal, operations: Operations): void {
  const { readiness, metrics, metricsToken } = operations
  server.get('/healthz', probeOptions, async () => ({ status: 'ok' }))
  server.get('/readyz', probeOptions, async (_request, reply) => {
    const { ready, problems } = await readiness()
    return reply.code(ready ? 200 : 503).send({ ready, problems })
  })
  server.get('/metrics', probeOptions, async (request, reply) => {
    const sent = bearerOf(request.headers.authorization) ?? ''
    if (metricsToken !== null && !isSameSecret(sent, metricsToken))
      return send(reply, refuse('unauthorized', null, 'The metrics need their token.'))
    const { contentType, body } = await metrics()
    return reply.header('content-type', contentType).send(body)
  })
}
