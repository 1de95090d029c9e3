import { z } from 'zod'
import { sessions } from '../../projections/access/sessions.ts'
import { users } from '../../projections/access/users.ts'
import { workspaces } from '../../projections/access/workspaces.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { publisher } from '../../src/domain/supply/publisher.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readMany, readOne } from '../shared/documents.ts'
import { sessionShape } from './get-session.ts'

/** What a publisher sees of its own record: nothing that the workspace notes about it. */
const portalPublisher = publisher
  .pick({ name: true, status: true, routingPrefix: true, timezone: true, payoutSchedule: true, payoutMethod: true })
  .extend({ agencyId: id, agencyName: z.string(), publisherId: id, joinedAt: instant.nullable() })
  .meta({ id: 'PortalPublisher' })

/** The session of a publisher's user, and the publisher that the request is about. */
export const getPortalSession = defineQuery({
  name: 'get-portal-session',
  summary: 'Read the session on the portal',
  mounts: [{ surface: 'portal', path: '/api/portal/session' }],
  params: z.object({}),
  query: z.object({}),
  response: sessionShape.pick({ expiresAt: true, user: true }).extend({ publisher: portalPublisher }),
  reads: [sessions, users, publishers, workspaces],
  rejects: ['unauthorized', 'publisher-not-found'],
  async run({ views }: QueryPorts, { actor, sessionHash = null, tenant: { workspaceId, publisherId = '' } }) {
    const [session, user, found, agencies] = await Promise.all([
      readMany(views, sessions, [sessionHash]).then((all) => all.get(sessionHash ?? '')),
      readMany(views, users, [actor?.id ?? null]).then((all) => all.get(actor?.id ?? '')),
      readOne(views, publishers, workspaceId, publisherId),
      readMany(views, workspaces, [workspaceId]),
    ])
    if (!session || !user || session.userId !== user.id) return refuse('unauthorized')
    if (!found) return refuse('publisher-not-found')
    const { name, status, routingPrefix, timezone, payoutSchedule, payoutMethod, joinedAt } = found
    const own = { name, status, routingPrefix, timezone, payoutSchedule, payoutMethod, joinedAt }
    const agencyName = agencies.get(workspaceId)?.name ?? ''
    return {
      expiresAt: session.expiresAt,
      user: { id: user.id, email: user.email, name: user.name },
      publisher: { agencyId: workspaceId, agencyName, publisherId, ...own },
    }
  },
})
