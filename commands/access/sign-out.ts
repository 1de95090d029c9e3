import { z } from 'zod'
import { user } from '../../src/domain/access/user.ts'
import { sha256 } from '../../src/domain/shared/fields.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Ends a session. */
export const signOut = defineCommand({
  name: 'sign-out',
  entity: user,
  input: z.object({ userId: id, sessionHash: sha256 }),
  id: ({ userId }) => userId,
  decide({ userId, sessionHash }, { sessions }) {
    return sessions.has(sessionHash) ? [{ type: 'SignedOut', data: { userId, sessionHash } }] : []
  },
})
