import { z } from 'zod'
import { sessions } from '../../projections/access/sessions.ts'
import { users } from '../../projections/access/users.ts'
import { workspaces } from '../../projections/access/workspaces.ts'
import { publishers } from '../../projections/supply/publishers.ts'
import { role } from '../../src/domain/access/seat.ts'
import { defineQuery } from '../../src/kernel/query.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, instant } from '../../src/kernel/wire.ts'
import type { QueryPorts } from '../../src/ports/query-ports.ts'
import { readMany, readReferenced } from '../shared/documents.ts'
import { openPortals } from './open-portals.ts'

/** A session in a response (Supplement §2): its end, its user, the user's seats, and the publishers whose portal is open to them. */
export const sessionShape = z
  .object({
    expiresAt: instant,
    user: z.object({ id, email: z.string(), name: z.string() }),
    seats: z.array(z.object({ agencyId: id, agencyName: z.string(), role })),
    publishers: z.array(z.object({ agencyId: id, publisherId: id, name: z.string() })),
  })
  .meta({ id: 'Session' })

/** The session of the request. */
export const getSession = defineQuery({
  name: 'get-session',
  summary: 'Read the session',
  mounts: [{ surface: 'account', path: '/api/auth/session' }],
  params: z.object({}),
  query: z.object({}),
  response: sessionShape,
  reads: [sessions, users, workspaces, publishers],
  rejects: ['unauthorized'],
  async run({ views }: QueryPorts, { actor, sessionHash = null }) {
    const session = (await readMany(views, sessions, [sessionHash])).get(sessionHash ?? '')
    const user = (await readMany(views, users, [session?.userId ?? null])).get(session?.userId ?? '')
    if (!session || !user || session.userId !== actor?.id) return refuse('unauthorized')
    const [held, open] = await Promise.all([
      readReferenced(views, workspaces, user.seats, ({ workspaceId }) => workspaceId),
      openPortals(views, user),
    ])
    const seats = user.seats.map(({ workspaceId, role }) => ({
      agencyId: workspaceId,
      agencyName: held.get(workspaceId)?.name ?? '',
      role,
    }))
    return {
      expiresAt: session.expiresAt,
      user: { id: user.id, email: user.email, name: user.name },
      seats,
      publishers: open.map(({ workspaceId: agencyId, id: publisherId, name }) => ({ agencyId, publisherId, name })),
    }
  },
})
