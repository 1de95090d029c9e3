import { ulid } from 'ulid'
import { extendSession } from '../../commands/access/extend-session.ts'
import { actorOf } from '../domain/access/access.ts'
import { slidTo } from '../domain/access/user.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'
import type { SessionUsed } from './access.ts'

/**
 * Keeps sessions open that are in use, beside the requests that use them. One that has long enough left is let be; an
 * extension that fails is made at the next use.
 */
export function slidingSessions(writer: StreamWriter): SessionUsed {
  const underWay = new Set<string>()

  async function extend(...[session, sessionHash]: Parameters<SessionUsed>): Promise<void> {
    const commandId = ulid()
    const call = { commandId, correlationId: commandId, causationId: null, surface: 'system', ip: null }
    const input = { userId: session.userId, sessionHash }
    await writer.handle(extendSession, input, { ...call, workspaceId: '', actor: actorOf(session) })
  }

  return (session, hash, now) => {
    if (slidTo(session.expiresAt, now) === null || underWay.has(hash)) return
    underWay.add(hash)
    extend(session, hash, now)
      .catch(() => undefined)
      .finally(() => underWay.delete(hash))
  }
}
