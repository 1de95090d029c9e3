import { z } from 'zod'
import { requestPasswordReset } from '../../../commands/access/request-password-reset.ts'
import { resetPassword } from '../../../commands/access/reset-password.ts'
import { users } from '../../../projections/access/users.ts'
import { readAll } from '../../../queries/shared/documents.ts'
import { email, newPassword, PASSWORD_RESET_PREFIX, userIdOf } from '../../domain/access/user.ts'
import { TEXT } from '../../domain/shared/limits.ts'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import { hashPassword } from '../passwords.ts'
import { secretHash } from '../secret-hash.ts'
import { issueSecret } from '../secret-issuer.ts'
import { defineWrite } from './define-write.ts'
import { defineWriteRoute, type Write } from './write-route.ts'

const request = defineWrite({
  name: 'request-password-reset',
  summary: 'Make a one-time token by which a user sets a new password',
  method: 'POST',
  mounts: [{ surface: 'operator', path: '/api/operator/users/password-reset' }],
  body: z.object({ email }),
  responses: { 200: z.object({ token: z.string() }) },
  command: requestPasswordReset,
  issue: (context) => issueSecret(context, `password reset ${userIdOf(context.body.email)}`, PASSWORD_RESET_PREFIX),
  input: ({ body: { email }, secret }) => ({ email, tokenHash: secretHash(secret) }),
  reveal: ({ secret }) => ({ token: secret }),
})

const reset = defineWriteRoute({
  name: 'reset-password',
  summary: 'Set a new password by a one-time token, and end every session',
  method: 'POST',
  mounts: [{ surface: 'sign-in', path: '/api/auth/password-reset' }],
  body: z.object({ token: z.string().min(1).max(TEXT.token), password: newPassword }),
  responses: { 204: z.null() },
  rejects: resetPassword.rejects,
  async run({ body: { token, password }, tools, execute, setActor }) {
    const tokenHash = secretHash(token)
    const [person] = await readAll(tools.views, users, { filter: { resetTokenHash: tokenHash }, limit: 1 })
    if (!person) return refuse('password-reset-not-found')
    setActor({ type: 'user', id: person.id, name: person.name }, null)
    const passwordHash = await hashPassword(password)
    const done = await execute(resetPassword, { userId: person.id, tokenHash, passwordHash })
    return isRefusal(done) ? done : { status: 204, body: null }
  },
})

/** Password resets (Supplement §2): the operator hands the token over. */
export const passwordResetWrites: readonly Write[] = [request, reset]
