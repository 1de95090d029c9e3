import { z } from 'zod'
import { email, passwordResetEnd, user, userIdOf } from '../../src/domain/access/user.ts'
import { sha256 } from '../../src/domain/shared/fields.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'

/** Lets a user set a new password by a one-time token, of which the hash arrives. An earlier token is worth nothing from then on. */
export const requestPasswordReset = defineCommand({
  name: 'request-password-reset',
  entity: user,
  input: z.object({ email, tokenHash: sha256 }),
  id: ({ email }) => userIdOf(email),
  rejects: ['user-not-found'],
  decide({ email, tokenHash }, { user }, { now }) {
    if (!user) return refuseNotFound('user')
    const reset = { userId: userIdOf(email), tokenHash, expiresAt: passwordResetEnd(now) }
    return [{ type: 'PasswordResetRequested', data: reset }]
  },
})
