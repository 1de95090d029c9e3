import { ulid } from 'ulid'
import { extendSession } from '../../commands/access/extend-session.ts'
import { actorOf } from '../domain/access/access.ts'
import { renewedSessionEnd } from '../domain/access/user.ts'
import type { StreamWriter } from '../runtime/write/stream-writer.ts'
import type { SessionUseListener } from './access.ts'

/**
 * Keeps sessions open that are in use, beside the requests that use them. One that has long enough left is let be; an
 * extension that fails is made at the next use.
 */
export function createSessionRenewal(writer: StreamWriter): SessionUseListener {
  const underWay = new Set<string>()

  async function extend(...[session, sessionHash]: Parameters<SessionUseListener>): Promise<void> {
    const commandId = ulid()
    const call = { commandId, correlationId: commandId, causationId: null, surface: 'system', ip: null }
    const input = { userId: session.userId, sessionHash }
    await writer.handle(extendSession, input, { ...call, workspaceId: '', actor: actorOf(session) })
  }

  return (session, hash, now) => {
    if (renewedSessionEnd(session.expiresAt, now) === null || underWay.has(hash)) return
    underWay.add(hash)
    extend(session, hash, now)
      .catch(() => undefined)
      .finally(() => underWay.delete(hash))
  }
}
