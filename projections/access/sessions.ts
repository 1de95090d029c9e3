import { z } from 'zod'
import { userEvents } from '../../src/domain/access/user.ts'
import { defineProjection } from '../../src/kernel/projection.ts'
import { id, instant } from '../../src/kernel/wire.ts'

const { SignedIn, SessionExtended, SignedOut, PasswordChanged } = userEvents

/** Open sessions, by the SHA-256 of their token: a look-up across workspaces. `users` has their user. */
export const sessions = defineProjection({
  name: 'sessions',
  version: 1,
  events: { SignedIn, SessionExtended, SignedOut, PasswordChanged },
  doc: z.object({ userId: id, expiresAt: instant }),
  indexes: [],
  expiresAt: ({ expiresAt }) => Date.parse(expiresAt),
  key({ type, data }) {
    if (type === 'PasswordChanged') return data.ended
    return type === 'SignedIn' ? [data.sessionHash, ...data.expired] : data.sessionHash
  },
  create: {
    SignedIn: ({ data: { userId, sessionHash, expiresAt } }, hash) =>
      hash === sessionHash ? { userId, expiresAt } : null,
  },
  update: {
    SignedIn: (_doc, { data: { userId, sessionHash, expiresAt } }, hash) =>
      hash === sessionHash ? { userId, expiresAt } : null,
    SessionExtended: (doc, { data: { expiresAt } }) => ({ ...doc, expiresAt }),
    SignedOut: () => null,
    PasswordChanged: () => null,
  },
})
