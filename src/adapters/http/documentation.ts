import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../../kernel/refusal.ts'
import type { SendRefusal } from './envelope.ts'
import type { Documents } from './openapi/document.ts'
import type { DocumentName } from './openapi/surfaces.ts'

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

type TextSender = ReturnType<typeof createTextSender>

/** Creates the sender of the documents: the one that `surface` names, or the whole. */
function createDocumentSender({ names, of }: Documents, send: SendRefusal, contentType: string): TextSender {
  const senderOf = (name?: DocumentName) => createTextSender(contentType, () => JSON.stringify(of(name)))
  const whole = senderOf()
  const senders = new Map<unknown, TextSender>(names.map((name) => [name, senderOf(name)]))
  return async (request, reply) => {
    const surface = Reflect.get(Object(request.query), 'surface')
    const sender = surface === undefined ? whole : senders.get(surface)
    if (sender) return sender(request, reply)
    return send(reply, refuse('validation-error', { surface: `must be one of ${names.join(', ')}` }))
  }
}

/** Serves the OpenAPI documents and their page; only this page is rendered by browsers, so only it gets helmet's headers. */
export async function registerDocumentation(
  server: FastifyInstance,
  send: SendRefusal,
  documents: Documents,
): Promise<void> {
  await server.register(swagger, {
    mode: 'static',
    specification: { document: { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} } },
  })
  const sendJson = createDocumentSender(documents, send, 'application/json; charset=utf-8')
  /** JSON is YAML too. */
  const sendYaml = createDocumentSender(documents, send, 'application/x-yaml; charset=utf-8')
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
  server.get('/openapi.json', sendJson)
}
