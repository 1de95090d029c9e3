import { hkdfSync } from 'node:crypto'
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
 * Handles a command on the platform's own account; the same `commandId` again answers the events of the first time.
 * @throws Error when the rules refuse it: whoever prepares a workspace knows them
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

/** A secret that the master key makes again at any time: what is stored of it is its hash alone. */
export function derivedSecret(masterKey: Buffer, purpose: string, workspaceId: string): string {
  return Buffer.from(hkdfSync('sha256', masterKey, '', `${purpose}\n${workspaceId}`, 32)).toString('base64url')
}

/** A workspace and the person who owns it. */
export interface NewTenant {
  readonly workspaceId: string
  readonly name: string
  readonly timezone: string
  readonly planId: PlanId
  readonly sandbox: boolean
  readonly owner: { readonly email: string; readonly name: string; readonly password: string }
}

/** Makes a workspace with its owner. Doing it again changes nothing. */
export async function createTenant(writer: StreamWriter, tenant: NewTenant): Promise<void> {
  const { workspaceId, name, timezone, planId, sandbox, owner } = tenant
  const person = { email: owner.email, name: owner.name }
  const passwordHash = await hashPassword(owner.password)
  // An address that is registered already keeps its password.
  await execute(writer, workspaceId, registerUser, { ...person, passwordHash }).catch(() => [])
  await execute(writer, workspaceId, createWorkspace, { name, timezone, planId, sandbox, owner: person })
  // A workspace of the time when seats did not stand in its stream; any other has an owner.
  const { seats } = await writer.stateOf(workspace, workspaceId)
  if (seats.size === 0) await execute(writer, workspaceId, grantSeat, { ...person, role: 'owner' })
}

/** Opens a session for a user; resolves to its token, which is not stored. */
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

/** Adds an API key with the given secret; answers its id. */
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
