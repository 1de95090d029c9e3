import { z } from 'zod'
import { changePassword } from '../../../commands/access/change-password.ts'
import { signIn } from '../../../commands/access/sign-in.ts'
import { signOut } from '../../../commands/access/sign-out.ts'
import { users } from '../../../projections/access/users.ts'
import { getSession, sessionShape } from '../../../queries/access/get-session.ts'
import { readMany } from '../../../queries/shared/documents.ts'
import {
  email,
  newPassword,
  SESSION_PREFIX,
  sessionEnd,
  submittedPassword,
  userIdOf,
} from '../../domain/access/user.ts'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import { hashPassword, isCorrectPassword } from '../passwords.ts'
import { secretHash } from '../secret-hash.ts'
import { issueSecret } from '../secret-issuer.ts'
import { signInSubjects } from '../sign-in-limiter.ts'
import { defineWrite } from './define-write.ts'
import { defineWriteRoute, type Write } from './write-route.ts'
import type { WriteTools } from './write-tools.ts'

/** The person of an id, with the hash of their password; undefined for a stranger. */
async function personOf({ views }: WriteTools, userId: string) {
  return (await readMany(views, users, [userId])).get(userId)
}

const open = defineWriteRoute({
  name: 'sign-in',
  summary: 'Sign in',
  method: 'POST',
  mounts: [{ surface: 'sign-in', path: '/api/auth/sign-in' }],
  body: z.object({ email, password: submittedPassword }),
  responses: { 200: z.object({ token: z.string(), ...sessionShape.shape }) },
  rejects: ['unauthorized', 'rate-limited'],
  async run(context) {
    const { body, ip, tools, setActor, execute, query } = context
    const { email, password } = body
    const person = await personOf(tools, userIdOf(email))
    const kept = person?.passwordHash ?? null
    const right = await tools.signInLimiter(signInSubjects(email, ip), () => isCorrectPassword(password, kept))
    if (isRefusal(right)) return right
    if (!right || !person) return refuse('unauthorized', null, 'The e-mail address or the password is wrong.')
    const token = await issueSecret(context, `sign-in ${person.id}`, SESSION_PREFIX)
    const session = {
      userId: person.id,
      sessionHash: secretHash(token),
      expiresAt: sessionEnd(tools.clock.now()),
      verified: person.passwordHash,
    }
    setActor({ type: 'user', id: person.id, name: person.name }, session.sessionHash)
    const done = await execute(signIn, session)
    if (isRefusal(done)) return refuse('unauthorized')
    const answer = await query(getSession, {})
    return isRefusal(answer) ? answer : { status: 200, body: { token, ...answer } }
  },
})

const close = defineWrite({
  name: 'sign-out',
  summary: 'Sign out',
  method: 'POST',
  mounts: [{ surface: 'account', path: '/api/auth/sign-out' }],
  responses: { 204: z.null() },
  command: signOut,
  input: ({ context: { principal } }) => ({
    userId: principal.actor.id ?? '',
    sessionHash: principal.sessionHash ?? '',
  }),
})

const change = defineWriteRoute({
  name: 'change-password',
  summary: 'Change the password, and end every other session',
  method: 'POST',
  mounts: [{ surface: 'account', path: '/api/auth/password' }],
  body: z.object({ current: submittedPassword, next: newPassword }),
  responses: { 204: z.null() },
  rejects: ['bad-request', 'unauthorized', 'rate-limited', 'conflict'],
  async run({ principal: { actor, sessionHash = '' }, body: { current, next }, ip, tools, execute }) {
    const person = await personOf(tools, actor.id ?? '')
    if (!person) return refuse('unauthorized')
    const verified = person.passwordHash
    const right = await tools.signInLimiter(signInSubjects(person.email, ip), () =>
      isCorrectPassword(current, verified),
    )
    if (isRefusal(right)) return right
    if (!right) return refuse('bad-request', { current: 'is not your password' }, 'The current password is wrong.')
    const passwordHash = await hashPassword(next)
    const done = await execute(changePassword, { userId: person.id, verified, passwordHash, sessionHash })
    return isRefusal(done) ? done : { status: 204, body: null }
  },
})

/** Sessions and passwords (Supplement §2, "Sign-in and users"). */
export const authWrites: readonly Write[] = [open, close, change]
