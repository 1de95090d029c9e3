import { signIn } from '../../../commands/access/sign-in.ts'
import { users } from '../../../projections/access/users.ts'
import { getSession } from '../../../queries/access/get-session.ts'
import { readMany } from '../../../queries/shared/documents.ts'
import { SESSION_PREFIX, sessionEnd } from '../../domain/access/user.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import { secretHash } from '../secret-hash.ts'
import { issueSecret } from '../secret-issuer.ts'
import type { WriteContext } from './write-context.ts'
import type { WriteResponse } from './write-progress.ts'
import type { WriteTools } from './write-tools.ts'

/** A person whose password or session was verified; `passwordHash` is the hash at that time. */
export interface SignedInPerson {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly passwordHash: string
}

/** The person of an id, with the hash of their password; undefined for a stranger. */
export async function personOf({ views }: WriteTools, userId: string) {
  return (await readMany(views, users, [userId])).get(userId)
}

/** Opens a session of a person, and answers the sign-in body. A password that was changed meanwhile is `unauthorized`. */
export async function openSession(
  context: Pick<
    WriteContext,
    'tools' | 'setActor' | 'execute' | 'setPartialResponse' | 'query' | 'idempotencyKey' | 'principal'
  >,
  { id, name, passwordHash }: SignedInPerson,
): Promise<WriteResponse | Refusal> {
  const { tools, setActor, execute, setPartialResponse, query } = context
  const token = await issueSecret(context, `sign-in ${id}`, SESSION_PREFIX)
  const sessionHash = secretHash(token)
  const expiresAt = sessionEnd(tools.clock.now())
  setActor({ type: 'user', id, name }, sessionHash)
  const opened = await execute(signIn, { userId: id, sessionHash, expiresAt, verified: passwordHash })
  if (isRefusal(opened)) return refuse('unauthorized')
  setPartialResponse({ status: 200, body: { token } })
  const answer = await query(getSession, {})
  return isRefusal(answer) ? answer : { status: 200, body: { token, ...answer } }
}
