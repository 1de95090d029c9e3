import { z } from 'zod'
import { renewedSessionEnd, user } from '../../src/domain/access/user.ts'
import { sha256 } from '../../src/domain/shared/fields.ts'
import { defineCommand } from '../../src/kernel/command.ts'
import { id } from '../../src/kernel/wire.ts'

/** Renews a session that is in use to its full duration. An expired or recently renewed session stays as it is. */
export const extendSession = defineCommand({
  name: 'extend-session',
  entity: user,
  input: z.object({ userId: id, sessionHash: sha256 }),
  id: ({ userId }) => userId,
  decide({ userId, sessionHash }, { sessions }, { now }) {
    const until = renewedSessionEnd(sessions.get(sessionHash) ?? now, now)
    return until === null ? [] : [{ type: 'SessionExtended', data: { userId, sessionHash, expiresAt: until } }]
  },
})
