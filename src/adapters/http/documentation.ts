import type { FastifyInstance } from 'fastify'
import { refuse } from '../../kernel/refusal.ts'
import type { SendRefusal } from './envelope.ts'
import type { Documents } from './openapi/document.ts'
import type { DocumentName } from './openapi/surfaces.ts'
import { createTextSender, type TextSender } from './text-sender.ts'

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

/** Serves the OpenAPI documents. */
export function registerDocumentation(server: FastifyInstance, send: SendRefusal, documents: Documents): void {
  const sendJson = createDocumentSender(documents, send, 'application/json; charset=utf-8')
  const config = { parameters: ['surface'] }
  for (const path of ['/openapi.json', '/docs/json']) server.get(path, { config }, sendJson)
  // JSON is YAML too.
  server.get('/docs/yaml', { config }, createDocumentSender(documents, send, 'application/x-yaml; charset=utf-8'))
}
