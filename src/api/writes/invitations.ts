import { z } from 'zod'
import { acceptInvitation } from '../../../commands/access/accept-invitation.ts'
import { acceptPublisherInvitation } from '../../../commands/access/accept-publisher-invitation.ts'
import { invitePerson } from '../../../commands/access/invite-person.ts'
import { registerUser } from '../../../commands/access/register-user.ts'
import { revokeInvitation } from '../../../commands/access/revoke-invitation.ts'
import { publisherUsers } from '../../../projections/access/publisher-users.ts'
import { seats } from '../../../projections/access/seats.ts'
import { sessions } from '../../../projections/access/sessions.ts'
import { workspaces } from '../../../projections/access/workspaces.ts'
import { getInvitation } from '../../../queries/access/get-invitation.ts'
import { sessionShape } from '../../../queries/access/get-session.ts'
import { invitationShape } from '../../../queries/access/user-shape.ts'
import { readAll, readMany } from '../../../queries/shared/documents.ts'
import { INVITATION_PREFIX, isOpen } from '../../domain/access/invitation.ts'
import { role } from '../../domain/access/seat.ts'
import { email, newPassword, submittedPassword, user, userIdOf } from '../../domain/access/user.ts'
import { workspace } from '../../domain/configuration/workspace.ts'
import { nameSchema } from '../../domain/shared/fields.ts'
import { NAME, TEXT } from '../../domain/shared/limits.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/refusal.ts'
import { id } from '../../kernel/wire.ts'
import { hashPassword, isCorrectPassword } from '../passwords.ts'
import { secretHash } from '../secret-hash.ts'
import { issueSecret } from '../secret-issuer.ts'
import { signInSubjects } from '../sign-in-limiter.ts'
import { defineWrite } from './define-write.ts'
import { openSession, personOf, type SignedInPerson } from './sessions.ts'
import type { WriteContext } from './write-context.ts'
import { defineWriteRoute, type Write } from './write-route.ts'

/** The input of an invitation. */
const invitee = z.object({ email, name: nameSchema(NAME.user), role })

/** Invites a person: the invitation and its one-time token, which is shown once. */
export async function invite(context: WriteContext, person: z.infer<typeof invitee>) {
  const token = await issueSecret(context, `invitation ${userIdOf(person.email)}`, INVITATION_PREFIX)
  const outcome = await context.execute(invitePerson, { ...person, tokenHash: secretHash(token) })
  if (isRefusal(outcome)) return outcome
  context.setPartialResponse({ status: 201, body: { token } })
  const made = outcome.first('PersonInvited')
  const answer = await context.query(getInvitation, { id: made?.invitation.id ?? '' })
  return isRefusal(answer) ? answer : { ...answer, token }
}

const path = '/api/tracking/users'

const add = defineWriteRoute({
  name: 'invite-user',
  summary: 'Invite a person to a seat in the workspace',
  method: 'POST',
  mounts: [{ surface: 'console', path, ownerOnly: true }],
  body: invitee,
  responses: { 201: z.object({ invitation: invitationShape, token: z.string() }) },
  rejects: [...invitePerson.rejects, ...getInvitation.rejects],
  async run(context) {
    const invited = await invite(context, context.body)
    return isRefusal(invited) ? invited : { status: 201, body: invited }
  },
})

const revoke = defineWrite({
  name: 'revoke-invitation',
  summary: 'Revoke an invitation',
  method: 'DELETE',
  mounts: [{ surface: 'console', path: `${path}/invitations/:id`, ownerOnly: true }],
  params: z.object({ id }),
  pathRecords: { id: 'invitations' },
  responses: { 200: z.object({ deleted: id }) },
  command: revokeInvitation,
  input: ({ params }) => ({ invitationId: params.id }),
  respond: ({ params }) => ({ deleted: params.id }),
})

/** An invitation to a seat, or to the portal of a publisher. */
interface Invited {
  readonly invitationId: string
  readonly workspaceId: string
  readonly email: string
  readonly name: string
  readonly accept: typeof acceptInvitation | typeof acceptPublisherInvitation
}

/** The open invitation of a token; null for none. */
async function findInvitation(
  { views }: WriteContext['tools'],
  tokenHash: string,
  now: string,
): Promise<Invited | null> {
  const page = { filter: { tokenHash }, limit: 1 }
  const [[seat], [portal]] = await Promise.all([readAll(views, seats, page), readAll(views, publisherUsers, page)])
  const found = seat ?? portal
  if (!found || !isOpen({ expiresAt: found.openUntil }, now)) return null
  const { userId: invitationId, workspaceId, email, name } = found
  return { invitationId, workspaceId, email, name, accept: seat ? acceptInvitation : acceptPublisherInvitation }
}

interface Acceptance {
  readonly token: string
  readonly password?: string | undefined
  readonly name?: string | undefined
}

/**
 * Registers the invited person, who has no account yet, under the password of the request. Where another request has just done so,
 * the invitation may be over, and else the account is theirs who can prove it.
 */
async function register(context: WriteContext, invited: Invited, { password, name }: Acceptance) {
  const checked = newPassword.safeParse(password)
  if (!checked.success) {
    return refuse('validation-error', { password: 'is required for a new account: a text of 8 to 200 characters' })
  }
  const person = { email: invited.email, name: name ?? invited.name }
  const passwordHash = await hashPassword(checked.data)
  const id = userIdOf(person.email)
  const registered = await context.execute(registerUser, { ...person, passwordHash })
  if (!isRefusal(registered)) return { ...person, id, passwordHash }
  const { writer } = context.tools
  const { invitations, publisherInvitations } = await writer.stateOf(workspace, invited.workspaceId)
  const { invitationId } = invited
  if (!invitations.has(invitationId) && !publisherInvitations.has(invitationId)) return refuse('invitation-not-found')
  const { user: other } = await writer.stateOf(user, id)
  return other ? prove(context, { ...other, id }, { token: '', password }) : registered
}

/** The person of an account, who has proved to own it: by the session of the request, or by the current password. */
async function prove({ principal, ip, tools, now }: WriteContext, person: SignedInPerson, { password }: Acceptance) {
  const hash = principal.sessionHash ?? ''
  const session = (await readMany(tools.views, sessions, [hash])).get(hash)
  if (session?.userId === person.id && session.expiresAt > now) return person
  const isRight = await tools.signInLimiter(signInSubjects(person.email, ip), () =>
    isCorrectPassword(password ?? '', person.passwordHash),
  )
  if (isRefusal(isRight)) return isRight
  return isRight
    ? person
    : refuse('unauthorized', null, 'This address has an account: send its current password, or its session.')
}

async function proveOrRegister(
  context: WriteContext,
  invited: Invited,
  acceptance: Acceptance,
): Promise<SignedInPerson | Refusal> {
  const known = await personOf(context.tools, userIdOf(invited.email))
  return known ? prove(context, known, acceptance) : register(context, invited, acceptance)
}

const accept = defineWriteRoute({
  name: 'accept-invitation',
  summary: 'Accept an invitation, and sign in',
  method: 'POST',
  mounts: [{ surface: 'sign-in', path: '/api/auth/invitations/accept' }],
  body: z.object({
    token: z.string().min(1).max(TEXT.token),
    password: submittedPassword.optional(),
    name: nameSchema(NAME.user).optional(),
  }),
  responses: { 200: z.object({ token: z.string(), ...sessionShape.shape }) },
  rejects: [...acceptInvitation.rejects, ...registerUser.rejects, 'validation-error', 'unauthorized', 'rate-limited'],
  async run(context) {
    const { body, tools, execute, setTenant, setActor, now } = context
    const tokenHash = secretHash(body.token)
    const invited = await findInvitation(tools, tokenHash, now)
    if (!invited) return refuse('invitation-not-found')
    const { workspaceId } = invited
    const timezone = (await readMany(tools.views, workspaces, [workspaceId])).get(workspaceId)?.timezone ?? 'UTC'
    setTenant({ workspaceId, timezone })
    const person = await proveOrRegister(context, invited, body)
    if (isRefusal(person)) return person
    setActor({ type: 'user', id: person.id, name: person.name }, null)
    const accepted = await execute(invited.accept, {
      invitationId: invited.invitationId,
      tokenHash,
      person: { email: person.email, name: person.name },
    })
    if (isRefusal(accepted)) return accepted
    return openSession(context, person)
  },
})

/** Invitations to a workspace (Supplement §2): nobody sets another's password. */
export const invitationWrites: readonly Write[] = [add, revoke, accept]
