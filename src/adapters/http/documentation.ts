import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiRoute } from '../../ports/api.ts'
import { withHeaders } from './header-docs.ts'
import { documentOf, toJsonSchemas } from './openapi.ts'

/** A document in one content coding. */
interface Variant {
  readonly coding: 'br' | 'gzip' | 'identity'
  readonly bytes: Buffer
  readonly etag: string
}

/** Brotli's default is its slowest level, which takes seconds for a document of this size. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/** Compresses a text; each variant has an entity tag of its own, since its bytes are. The preferred coding comes first. */
async function variantsOf(text: string): Promise<readonly [Variant, ...Variant[]]> {
  const plain = Buffer.from(text)
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain, brotliOptions), promisify(gzip)(plain)])
  return [
    { coding: 'br', bytes: br, etag: `"${digest}-br"` },
    { coding: 'gzip', bytes: zipped, etag: `"${digest}-gzip"` },
    { coding: 'identity', bytes: plain, etag: `"${digest}"` },
  ]
}

/** Whether `Accept-Encoding` accepts a coding; without the header only the plain bytes are. */
function acceptsCoding(header: string, coding: Variant['coding']): boolean {
  if (coding === 'identity') return true
  const weights = new Map(
    header.split(',').map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
      return [name, Number(weight)] as const
    }),
  )
  return (weights.get(coding) ?? weights.get('*') ?? 0) > 0
}

/** Whether `If-None-Match` names the entity tag. */
function namesTag(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*')
}

/** Creates the sender of a text that is made and compressed once, at its first request. */
function createTextSender(contentType: string, makeText: () => string) {
  let made: ReturnType<typeof variantsOf> | null = null
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    made ??= variantsOf(makeText())
    const variants = await made
    const accepted = variants.find(({ coding }) => acceptsCoding(String(headers['accept-encoding'] ?? ''), coding))
    const { coding, bytes, etag } = accepted ?? variants[0]
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' })
    if (namesTag(headers['if-none-match'], etag)) return reply.code(304).send()
    if (coding !== 'identity') reply.header('content-encoding', coding)
    return reply.header('content-type', contentType).send(bytes)
  }
}

/** Serves the OpenAPI document and its page; only this page is rendered by browsers, so only it gets helmet's headers. */
export async function registerDocumentation(
  server: FastifyInstance,
  {
    title,
    version,
    routes,
  }: { readonly title: string; readonly version: string; readonly routes: readonly ApiRoute[] },
): Promise<void> {
  await server.register(swagger, {
    openapi: documentOf({ title, version }),
    transform: toJsonSchemas,
    transformObject: (document) => ('openapiObject' in document ? withHeaders(document.openapiObject, routes) : {}),
  })
  const sendJson = createTextSender('application/json; charset=utf-8', () => JSON.stringify(server.swagger()))
  const sendYaml = createTextSender('application/x-yaml; charset=utf-8', () => server.swagger({ yaml: true }))
  /** The page's own routes would make the text again for each request. */
  const senders = new Map([
    ['/docs/json', sendJson],
    ['/docs/yaml', sendYaml],
  ])
  await server.register(async (docs) => {
    docs.addHook('onRequest', async (request, reply) => senders.get(request.routeOptions.url ?? '')?.(request, reply))
    await docs.register(helmet, { contentSecurityPolicy: false })
    await docs.register(swaggerUi, { routePrefix: '/docs', staticCSP: true })
  })
  server.get('/openapi.json', { schema: { hide: true } }, sendJson)
}
