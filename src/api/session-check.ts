import { authorize, identify } from '../domain/access/access.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { Principal } from '../ports/api.ts'
import type { Clock } from '../ports/clock.ts'
import type { CredentialStore } from './credential-store.ts'

/** Whether a principal's session is still open and still opens the workspace. The check does not extend the session. */
export type SessionCheck = (principal: Principal) => Promise<boolean>

/** Creates the check that long-lived responses make while they are open. */
export function createSessionCheck(store: CredentialStore, clock: Clock): SessionCheck {
  return async ({ tenant, sessionHash = null }) => {
    if (tenant === null || sessionHash === null) return false
    const session = await store.credential('session', sessionHash)
    const now = new Date(clock.now()).toISOString()
    const request = { secretHash: sessionHash, agencyId: tenant.workspaceId, publisherId: null, ip: '', now }
    if (session === null || isRefusal(identify('console', session, request))) return false
    const requirement = { surface: 'console', scope: null, write: false } as const
    return authorize(requirement, session, await store.workspace(tenant.workspaceId), request) === null
  }
}
