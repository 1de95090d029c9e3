import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createApiClient } from '../support/e2e/api-client.ts'
import { embeddedStores, freshEnvironment, type Server, startServer, waitUntil } from '../support/e2e/server.ts'
import { copyNextVersion } from '../support/simulation/next-version.ts'

const servers: Server[] = []
afterAll(async () => {
  for (const server of servers) await server.dispose()
})

/** What a client does at one process, with the credentials that all of them share. */
function clientOf({ baseUrl, sandbox }: Server) {
  const console = createApiClient(() => baseUrl, sandbox.sessionToken)
  return {
    callIds: async (): Promise<readonly string[]> => {
      const { status, body } = await createApiClient(() => baseUrl, sandbox.apiKey)('/api/v1/calls?pageSize=200')
      expect(status).toBe(200)
      return body.data.map(({ id }: { readonly id: string }) => id)
    },
    async place(): Promise<string> {
      const to = sandbox.numbers[0]?.e164
      const { status, body } = await console('/api/sandbox/calls', { method: 'POST', body: { to, mode: 'instant' } })
      expect(status).toBe(201)
      return body.callId
    },
    /** Changes a record, and reads it back without a lag. */
    async edit(notes: string): Promise<void> {
      const [buyer] = (await console('/api/tracking/buyers')).body.data
      const edited = await console(`/api/tracking/buyers/${buyer.id}`, { method: 'PATCH', body: { notes } })
      expect([edited.status, edited.headers.get('svc-read-lag')]).toEqual([200, null])
      expect(edited.body.buyer.notes).toBe(notes)
    },
  }
}

test('processes of two versions of the code serve one store, in whatever order they come and go', async () => {
  const env = freshEnvironment(embeddedStores)
  const current = await startServer(env)
  servers.push(current)
  const placed: string[] = []
  /** Writes at some processes, and expects all of them to show it. */
  const serve = async (...processes: readonly Server[]) => {
    for (const process of processes) {
      placed.push(await clientOf(process).place())
      await clientOf(process).edit(`Edit ${placed.length}`)
    }
    for (const process of processes) {
      await waitUntil('Every call is listed', async () => {
        const listed = await clientOf(process).callIds()
        return placed.every((id) => listed.includes(id))
      })
    }
  }
  await serve(current)
  const next = await startServer(env, copyNextVersion(join(dirname(env.DATA_DIR ?? ''), 'next')))
  servers.unshift(next)
  await serve(current, next)
  await serve(next, current)
  await current.stop()
  await serve(next)
  await current.restart()
  await serve(current, next)
  await next.stop()
  await serve(current)
})
