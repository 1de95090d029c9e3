import { z } from 'zod'
import { passwordHash, user } from '../../src/domain/access/user.ts'
import { sha256 } from '../../src/domain/shared/fields.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { id } from '../../src/kernel/wire.ts'

/** Changes a user's password and ends all other sessions. Passwords arrive as hashes only. */
export const changePassword = defineCommand({
  name: 'change-password',
  entity: user,
  input: z.object({
    userId: id,
    /** The hash that the current password was verified against. */
    verified: passwordHash,
    passwordHash,
    sessionHash: sha256,
  }),
  id: ({ userId }) => userId,
  rejects: ['user-not-found', 'conflict'],
  decide({ userId, verified, passwordHash, sessionHash }, { user, sessions }) {
    if (!user) return refuseNotFound('user')
    if (verified !== user.passwordHash)
      return refuse('conflict', null, 'The password was changed in the meantime. Try again with the current one.')
    const ended = [...sessions.delete(sessionHash).keys()]
    return [{ type: 'PasswordChanged', data: { userId, passwordHash, ended } }]
  },
})
