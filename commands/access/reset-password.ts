import { z } from 'zod'
import { passwordHash, user } from '../../src/domain/access/user.ts'
import { sha256 } from '../../src/domain/shared/fields.ts'
import { refuseNotFound } from '../../src/domain/shared/refusals.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Sets a new password by the token of a reset, and ends every session. The password and the token arrive as hashes only. */
export const resetPassword = defineCommand({
  name: 'reset-password',
  entity: user,
  input: z.object({ userId: id, tokenHash: sha256, passwordHash }),
  id: ({ userId }) => userId,
  rejects: ['password-reset-not-found'],
  decide({ userId, tokenHash, passwordHash }, { reset, sessions }, { now }) {
    if (reset?.tokenHash !== tokenHash || reset.expiresAt <= now) return refuseNotFound('password-reset')
    return [{ type: 'PasswordChanged', data: { userId, passwordHash, ended: [...sessions.keys()] } }]
  },
})
