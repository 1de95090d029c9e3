import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { refuse } from '../../kernel/refusal.ts'
import type { Readiness } from '../../ports/api.ts'
import type { SendRefusal } from './envelope.ts'
import { bearerOf } from './headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a route is a probe, whose requests are neither logged nor measured. */
    readonly isProbe?: true
  }
}

/** Sources of the operations routes. */
export interface Operations {
  readonly readiness: () => Promise<Readiness>
  /** Metrics in Prometheus text format; null without `/metrics`. */
  readonly metrics: (() => Promise<{ readonly contentType: string; readonly body: string }>) | null
  /** Bearer token that `/metrics` requires; null for none. */
  readonly metricsToken: string | null
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Compares two secrets in constant time. */
function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other))
}

/**
 * Probes and scrapes answer under pressure too, since that is when they are needed. They are neither logged nor measured: they
 * come every few seconds, and the 503 of a process that is not ready is no failure of a request.
 */
const probeOptions = { config: { pressureHandler: () => undefined, parameters: [], isProbe: true as const } }

/** Mounts `/healthz`, `/readyz` and `/metrics` (Supplement §2). */
export function mountOperations(server: FastifyInstance, send: SendRefusal, operations: Operations): void {
  const { readiness, metrics, metricsToken } = operations
  server.get('/healthz', probeOptions, async () => ({ status: 'ok' }))
  server.get('/readyz', probeOptions, async (_request, reply) => {
    const { ready, problems, warnings } = await readiness()
    return reply.code(ready ? 200 : 503).send({ ready, problems, warnings })
  })
  if (metrics === null) return
  server.get('/metrics', probeOptions, async (request, reply) => {
    const sent = bearerOf(request.headers.authorization) ?? ''
    if (metricsToken !== null && !isSameSecret(sent, metricsToken))
      return send(reply, refuse('unauthorized', null, 'Send the metrics token: Authorization: Bearer <METRICS_TOKEN>.'))
    const { contentType, body } = await metrics()
    return reply.header('content-type', contentType).send(body)
  })
}
