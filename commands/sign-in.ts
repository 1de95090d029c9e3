import { z } from 'zod'
import { sha256 } from '../src/domain/fields.ts'
import { missing } from '../src/domain/refusals.ts'
import { user } from '../src/domain/user.ts'
import { defineCommand } from '../src/kernel/command.ts'
import { id, instant } from '../src/kernel/wire.ts'

/** Opens a session for a user whose password has been verified; the token comes as its hash alone. */
export const signIn = defineCommand({
  name: 'sign-in',
  entity: user,
  input: z.object({ userId: id, sessionHash: sha256, expiresAt: instant }),
  id: ({ userId }) => userId,
  rejects: ['user-not-found'],
  decide({ userId, sessionHash, expiresAt }, { user, sessions }, { now }) {
    if (!user) return missing('user')
    if (sessions.get(sessionHash) === expiresAt) return []
    const expired = [...sessions.filter((end, hash) => end <= now && hash !== sessionHash).keys()]
    return [{ type: 'SignedIn', data: { userId, sessionHash, expiresAt, expired } }]
  },
})
