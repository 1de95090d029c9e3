import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isRefusal } from '../../kernel/refusal.ts'
import type { ApiRoute, Principal } from '../../ports/api.ts'
import { remoteAddressOf } from './headers.ts'
import { connectionOf, type MountContext, sendResponse } from './mount.ts'
import { messageOf } from './refusals.ts'
import { createTextSender } from './text-sender.ts'

/** Below this path nothing is kept by browsers and proxies, but what says so itself (Document 2, number insertion). */
const UNCACHED = '/api/public/dni/'

/** Marks every answer below the path of number insertion as not to be kept, whoever answers: refusals and preflights, too. */
export function registerNoStore(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (request.url.startsWith(UNCACHED)) reply.header('cache-control', 'no-store')
    done()
  })
}

const ANONYMOUS: Principal = {
  actor: { type: 'system', id: null, name: 'Public' },
  tenant: null,
  credentialId: 'public',
  ratePerMinute: null,
}
const NOTHING = Object.freeze({})
const anything = (value: unknown) => ({ value })

function createDirectHandler(route: ApiRoute, { send, cursors }: MountContext) {
  const { text, cacheControl } = route.direct ?? {}
  if (text) {
    const sendText = createTextSender(`${route.contentType ?? 'text/plain'}; charset=utf-8`, text, cacheControl)
    // Pages of any origin load it, those that require a policy of what they embed (COEP) as well.
    return (request: FastifyRequest, reply: FastifyReply) =>
      sendText(request, reply.header('cross-origin-resource-policy', 'cross-origin'))
  }
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { body, headers } = request
    const response = await route.run({
      params: NOTHING,
      query: NOTHING,
      body: { headers, bytes: body instanceof Uint8Array ? body : new Uint8Array(), check: anything },
      principal: ANONYMOUS,
      surface: route.surface,
      requestId: request.id,
      idempotencyKey: null,
      ifMatch: null,
      ip: remoteAddressOf(request),
      minPosition: null,
      range: null,
      connection: connectionOf(reply),
    })
    if (isRefusal(response))
      return send(reply.headers(response.headers ?? {}), {
        ...response,
        message: response.message ?? messageOf(route, response.refused),
      })
    return sendResponse(reply, response, cursors)
  }
}

/** Mounts a route without the checks of the others: its requests have no credential, no parameters and no headers that count. */
export function mountDirect(server: FastifyInstance, route: ApiRoute, context: MountContext): void {
  const { onArrival } = route.direct ?? {}
  server.route({
    method: route.method,
    url: route.path,
    exposeHeadRoute: route.direct?.text !== undefined,
    bodyLimit: context.bodyLimit(route),
    config: { parameters: [] },
    ...(onArrival && {
      async onRequest(request: FastifyRequest, reply: FastifyReply) {
        const early = await onArrival({ ip: remoteAddressOf(request) })
        return early === null ? undefined : sendResponse(reply, early, context.cursors)
      },
    }),
    handler: createDirectHandler(route, context),
  })
}
