import { z } from 'zod'
import { passwordHash, user } from '../../src/domain/access/user.ts'
import { sha256 } from '../../src/domain/shared/fields.ts'
import { SESSION } from '../../src/domain/shared/limits.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id, instant } from '../../src/kernel/wire.ts'

/** Opens a session for a user whose password was verified. The token arrives as its hash only. */
export const signIn = defineCommand({
  name: 'sign-in',
  entity: user,
  input: z.object({
    userId: id,
    sessionHash: sha256,
    expiresAt: instant,
    /** The hash that the password was verified against; missing when the platform itself opens the session. */
    verified: passwordHash.optional(),
  }),
  id: ({ userId }) => userId,
  rejects: ['user-not-found', 'unauthorized'],
  decide({ userId, sessionHash, expiresAt, verified }, { user, sessions }, { now }) {
    if (!user) return refuseNotFound('user')
    if (verified !== undefined && verified !== user.passwordHash) return refuse('unauthorized')
    if (sessions.get(sessionHash) === expiresAt) return []
    const others = [...sessions.delete(sessionHash)].toSorted(([, one], [, other]) => (one < other ? -1 : 1))
    const tooMany = others.length + 1 - SESSION.perUser
    const expired = others.filter(([, end], index) => end <= now || index < tooMany).map(([hash]) => hash)
    return [{ type: 'SignedIn', data: { userId, sessionHash, expiresAt, expired } }]
  },
})
