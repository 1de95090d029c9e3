import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../../kernel/refusal.ts'
import { RefusalError } from './body.ts'

const FILE_CHANGED = refuse('precondition-failed', null, 'The file is not the one that If-Match names.')

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

/** Whether `If-Match` or `If-None-Match` names the entity tag. */
function namesTag(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*')
}

/** Answers with a text. */
export type TextSender = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Creates the sender of a text that is made and compressed once, at its first request. */
export function createTextSender(
  contentType: string,
  makeText: () => string | Promise<string>,
  cacheControl = 'no-cache',
): TextSender {
  let made: ReturnType<typeof variantsOf> | null = null
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    made ??= Promise.resolve(makeText()).then(variantsOf)
    const variants = await made
    const accepted = variants.find(({ coding }) => acceptsCoding(String(headers['accept-encoding'] ?? ''), coding))
    const { coding, bytes, etag } = accepted ?? variants[0]
    const vary = [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', ')
    reply.headers({ etag, vary, 'cache-control': cacheControl })
    const wanted = headers['if-match']
    if (wanted !== undefined && !namesTag(wanted, etag)) throw new RefusalError(FILE_CHANGED)
    if (namesTag(headers['if-none-match'], etag)) return reply.code(304).send()
    if (coding !== 'identity') reply.header('content-encoding', coding)
    return reply.header('content-type', contentType).send(bytes)
  }
}
