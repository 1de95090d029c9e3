import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type ApiClient, createApiClient, type Json } from './api-client.ts'
import type { Server } from './server.ts'
import type { TenantClient } from './tenant-client.ts'

export const PORTAL_PASSWORD = 'correct horse battery'
const ACCEPT = '/api/auth/invitations/accept'

/** A user of a publisher's portal: their account, their session, and a client with it. */
export interface PortalUser {
  readonly id: string
  readonly email: string
  readonly session: string
  readonly portal: ApiClient
}

/** Switches a publisher's portal on or off, on the console. */
export async function switchPortal({ console }: TenantClient, publisherId: string, portalEnabled: boolean) {
  const body = { portalEnabled }
  const answer = await console(`/api/tracking/publishers/${publisherId}`, { method: 'PATCH', body })
  expect(answer.status, answer.text).toBe(200)
}

/** Invites a person to a publisher's portal, on the console. */
export async function inviteToPortal({ console }: TenantClient, publisherId: string, email: string): Promise<Json> {
  const body = { email, name: 'Grace' }
  const answer = await console(`/api/tracking/publishers/${publisherId}/users`, { method: 'POST', body })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

/** Makes a person a user of publishers whose portal is switched on: by invitations that a new account accepts. */
export async function openPortalUser(
  server: Pick<Server, 'baseUrl'>,
  tenant: TenantClient,
  publisherIds: readonly string[],
  email = `${randomUUID()}@publisher.example`,
): Promise<PortalUser> {
  let answer: Json = null
  for (const publisherId of publisherIds) {
    await switchPortal(tenant, publisherId, true)
    const { token } = await inviteToPortal(tenant, publisherId, email)
    const accepted = await createApiClient(() => server.baseUrl, null)(ACCEPT, {
      method: 'POST',
      body: { token, password: PORTAL_PASSWORD },
    })
    expect(accepted.status, accepted.text).toBe(200)
    answer = accepted.body
  }
  const session: string = answer.token
  return { id: answer.user.id, email, session, portal: createApiClient(() => server.baseUrl, session) }
}
