import { expect } from 'vitest'
import { type ApiClient, type ApiResponse, createApiClient, type Json, type Token } from './api-client.ts'
import type { Server } from './server.ts'

/** An API key created over the console, with its secret and a client that uses it. */
export interface CreatedKey {
  readonly apiKey: Json
  readonly id: string
  readonly secret: string
  readonly ask: ApiClient
}

/** Manages the API keys of a workspace over the console. */
export interface KeyClient {
  /** Sends to the console routes of API keys. */
  readonly send: (
    method: string,
    path: string,
    body?: Json,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<ApiResponse>
  readonly create: (settings?: Json) => Promise<CreatedKey>
  readonly read: (id: string) => Promise<Json>
  /** Sends a GET with a key; returns the status and, for an error, its code. */
  readonly statusAndCode: (secret: string, path?: string) => Promise<readonly unknown[]>
}

/** Creates the client of a session. */
export function createKeyClient(server: Pick<Server, 'baseUrl'>, session: Token): KeyClient {
  const console = createApiClient(() => server.baseUrl, session)
  const of = (secret: string) => createApiClient(() => server.baseUrl, secret)
  const send: KeyClient['send'] = (method, path, body, headers = {}) =>
    console(`/api/tracking/api-keys${path}`, { method, body, headers })
  return {
    send,
    async create(settings = {}) {
      const created = await send('POST', '', { name: 'Key', scopes: ['campaigns:read'], ...settings })
      expect(created.status, created.text).toBe(201)
      const { apiKey, key: secret } = created.body
      return { apiKey, id: apiKey.id, secret, ask: of(secret) }
    },
    async read(id) {
      const answer = await send('GET', `/${id}`)
      expect(answer.status, answer.text).toBe(200)
      return answer.body.apiKey
    },
    async statusAndCode(secret, path = '/api/v1/campaigns') {
      const { status, body } = await of(secret)(path)
      return status === 200 ? [200] : [status, body.error.code]
    },
  }
}
