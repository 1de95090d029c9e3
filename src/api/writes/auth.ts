import { z } from 'zod'
import { changePassword } from '../../../commands/access/change-password.ts'
import { signOut } from '../../../commands/access/sign-out.ts'
import { sessionShape } from '../../../queries/access/get-session.ts'
import { email, newPassword, submittedPassword, userIdOf } from '../../domain/access/user.ts'
import { isRefusal, refuse } from '../../kernel/refusal.ts'
import { hashPassword, isCorrectPassword } from '../passwords.ts'
import { signInSubjects } from '../sign-in-limiter.ts'
import { defineWrite } from './define-write.ts'
import { openSession, personOf } from './sessions.ts'
import { defineWriteRoute, type Write } from './write-route.ts'

const open = defineWriteRoute({
  name: 'sign-in',
  summary: 'Sign in',
  method: 'POST',
  mounts: [{ surface: 'sign-in', path: '/api/auth/sign-in' }],
  body: z.object({ email, password: submittedPassword }),
  responses: { 200: z.object({ token: z.string(), ...sessionShape.shape }) },
  rejects: ['unauthorized', 'rate-limited'],
  async run(context) {
    const { body, ip, tools } = context
    const { email, password } = body
    const person = await personOf(tools, userIdOf(email))
    const kept = person?.passwordHash ?? null
    const right = await tools.signInLimiter(signInSubjects(email, ip), () => isCorrectPassword(password, kept))
    if (isRefusal(right)) return right
    if (!right || !person) return refuse('unauthorized', null, 'The e-mail address or the password is wrong.')
    return openSession(context, person)
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
