import { z } from 'zod'
import { email, passwordHash, user, userIdOf } from '../../src/domain/access/user.ts'
import { nameSchema } from '../../src/domain/shared/fields.ts'
import { NAME } from '../../src/domain/shared/limits.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { refuse } from '../../src/kernel/refusal.ts'

/** Registers a user under an e-mail address. The password arrives as its hash only. */
export const registerUser = defineCommand({
  name: 'register-user',
  entity: user,
  input: z.object({ email, name: nameSchema(NAME.user), passwordHash }),
  id: ({ email }) => userIdOf(email),
  rejects: ['conflict'],
  decide({ email, name, passwordHash }, { user }) {
    if (user) return refuse('conflict', { email }, 'This e-mail address is already registered.')
    return [{ type: 'UserRegistered', data: { userId: userIdOf(email), email, name, passwordHash } }]
  },
})
