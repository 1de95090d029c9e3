import { ulid } from 'ulid'
import { createApiKey } from '../../commands/access/create-api-key.ts'
import { createWorkspace } from '../../commands/access/create-workspace.ts'
import { grantSeat } from '../../commands/access/grant-seat.ts'
import { registerUser } from '../../commands/access/register-user.ts'
import { signIn } from '../../commands/access/sign-in.ts'
import { hashPassword } from '../api/passwords.ts'
import { secretHash } from '../api/secret-hash.ts'
import { storedSecret } from '../api/secret-issuer.ts'
import { apiKeyEvents } from '../domain/access/api-key.ts'
import type { PlanId } from '../domain/access/plans.ts'
import { scopes } from '../domain/access/scopes.ts'
import { SESSION_PREFIX, sessionEnd, userIdOf } from '../domain/access/user.ts'
import { workspace } from '../domain/configuration/workspace.ts'
import type { AnyCommand } from '../kernel/command.ts'
import type { Actor, RecordedEvent } from '../kernel/event.ts'
import { isRefusal } from '../kernel/refusal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'

const OPERATOR: Actor = { type: 'operator', id: null, name: 'Ringledger' }

/**
 * Handles a command as the operator. Resolves to its events; a repeated `commandId` returns the events of the first time.
 * @throws Error when the command is refused; LogUnavailable
 */
export async function execute(
  writer: StreamWriter,
  workspaceId: string,
  command: AnyCommand,
  input: unknown,
  commandId: string = ulid(),
): Promise<readonly RecordedEvent[]> {
  const outcome = await writer.handle(command, command.input.parse(input), {
    workspaceId,
    actor: OPERATOR,
    commandId,
    correlationId: commandId,
    causationId: null,
    surface: 'system',
    ip: null,
  })
  if (isRefusal(outcome)) {
    throw new Error(`${command.name}: ${outcome.refused} ${outcome.message ?? ''} ${JSON.stringify(outcome.details)}`)
  }
  return outcome.events
}

/** A workspace and its owner. */
export interface NewTenant {
  readonly workspaceId: string
  readonly name: string
  readonly timezone: string
  readonly planId: PlanId
  readonly sandbox: boolean
  readonly owner: { readonly email: string; readonly name: string; readonly password: string }
}

/** Creates a workspace with its owner. Idempotent. @throws Error when a command is refused; LogUnavailable */
export async function createTenant(writer: StreamWriter, tenant: NewTenant): Promise<void> {
  const { workspaceId, name, timezone, planId, sandbox, owner } = tenant
  const person = { email: owner.email, name: owner.name }
  const passwordHash = await hashPassword(owner.password)
  // A registered address keeps its password.
  await execute(writer, workspaceId, registerUser, { ...person, passwordHash }).catch(() => [])
  await execute(writer, workspaceId, createWorkspace, { name, timezone, planId, sandbox, owner: person })
  // Older workspaces were created without seats in their stream.
  const { seats } = await writer.stateOf(workspace, workspaceId)
  if (seats.size === 0) await execute(writer, workspaceId, grantSeat, { ...person, role: 'owner' })
}

/** Opens a session for a user. Resolves to its token, of which only the hash is stored. */
export async function openSession(
  {
    writer,
    clock,
    random,
  }: { readonly writer: StreamWriter; readonly clock: Clock; readonly random: Pick<Random, 'bytes'> },
  workspaceId: string,
  email: string,
): Promise<string> {
  const token = `${SESSION_PREFIX}${Buffer.from(random.bytes(32)).toString('base64url')}`
  const expiresAt = sessionEnd(clock.now())
  await execute(writer, workspaceId, signIn, { userId: userIdOf(email), sessionHash: secretHash(token), expiresAt })
  return token
}

/** Creates an API key with a given secret. Resolves to its id. */
export async function addApiKey(
  writer: StreamWriter,
  workspaceId: string,
  key: {
    readonly secret: string
    readonly name: string
    readonly scopes?: readonly string[]
    readonly ratePerMinute?: number
  },
  commandId?: string,
): Promise<string> {
  const input = {
    name: key.name,
    scopes: key.scopes ?? scopes,
    ...(key.ratePerMinute === undefined ? {} : { rateLimitPerMinute: key.ratePerMinute }),
    ...storedSecret(key.secret),
  }
  const [created] = await execute(writer, workspaceId, createApiKey, input, commandId)
  return apiKeyEvents.ApiKeyCreated.parse(created?.data).apiKey.id
}
