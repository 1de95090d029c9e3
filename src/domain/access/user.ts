import { Map as PersistentMap } from 'immutable'
import { v5 } from 'uuid'
import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { addMs } from '../../kernel/instant.ts'
import { id, instant } from '../../kernel/wire.ts'
import { nameSchema, sha256 } from '../shared/fields.ts'
import { NAME, PASSWORD, PASSWORD_RESET, SESSION, TEXT } from '../shared/limits.ts'
import { HOUR_MS } from '../shared/time.ts'

export const email = z.email().max(TEXT.email)
/** A new password. */
export const newPassword = z.string().min(PASSWORD.min).max(PASSWORD.max)
/** A password to be verified. */
export const submittedPassword = z.string().min(1).max(PASSWORD.max)
/** The input of a new user. */
export const newPerson = z.object({ email, name: nameSchema(NAME.user), password: newPassword })
/** An argon2id hash with its salt and cost. */
export const passwordHash = z.string().min(1)

/** These names are the storage format. */
export const userEvents = {
  UserRegistered: z.object({ userId: id, email, name: nameSchema(NAME.user), passwordHash }),
  SignedIn: z.object({
    userId: id,
    sessionHash: sha256,
    expiresAt: instant,
    /** Sessions that this sign-in removes: expired ones, and those over the limit per user. */
    expired: z.array(sha256).readonly(),
  }),
  SessionExtended: z.object({ userId: id, sessionHash: sha256, expiresAt: instant }),
  SignedOut: z.object({ userId: id, sessionHash: sha256 }),
  PasswordResetRequested: z.object({ userId: id, tokenHash: sha256, expiresAt: instant }),
  /** `ended` are the sessions that the change ends: all but the one in which it was made. */
  PasswordChanged: z.object({ userId: id, passwordHash, ended: z.array(sha256).readonly() }),
}

export interface UserState {
  readonly user: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly passwordHash: string
  } | null
  /** The reset that can be made now; null when none was requested since the last password. */
  readonly reset: { readonly tokenHash: string; readonly expiresAt: string } | null
  /** End of each session, by the hash of its token. */
  readonly sessions: PersistentMap<string, string>
}

const initial: UserState = { user: null, reset: null, sessions: PersistentMap() }

/** A user, stream `user-<pp>-<userId>`. */
export const user = defineEntity({
  name: 'user',
  version: 3,
  longLived: true,
  deduplicatesCommands: true,
  events: userEvents,
  initial,
  evolve: {
    UserRegistered: (state, { data: { userId, ...registered } }) => ({ ...state, user: { id: userId, ...registered } }),
    SignedIn: (state, { data }) => ({
      ...state,
      sessions: state.sessions.deleteAll(data.expired).set(data.sessionHash, data.expiresAt),
    }),
    SessionExtended: (state, { data }) => ({
      ...state,
      sessions: state.sessions.set(data.sessionHash, data.expiresAt),
    }),
    SignedOut: (state, { data }) => ({ ...state, sessions: state.sessions.delete(data.sessionHash) }),
    PasswordResetRequested: (state, { data: { tokenHash, expiresAt } }) => ({
      ...state,
      reset: { tokenHash, expiresAt },
    }),
    PasswordChanged: (state, { data }) => ({
      ...state,
      reset: null,
      user: state.user && { ...state.user, passwordHash: data.passwordHash },
      sessions: state.sessions.deleteAll(data.ended),
    }),
  },
})

/** Prefix of a session's token; 256 random bits follow. */
export const SESSION_PREFIX = 'sess_'

/** The new end of a session that is used now; null when it has ended, or more than `SESSION.renewBelowHours` are left. */
export function renewedSessionEnd(expiresAt: string, now: string): string | null {
  const left = Date.parse(expiresAt) - Date.parse(now)
  return left > 0 && left < SESSION.renewBelowHours * HOUR_MS ? sessionEnd(Date.parse(now)) : null
}

/** End of a session that was last used at an instant (ms). */
export function sessionEnd(at: number): string {
  return new Date(at + SESSION.hours * HOUR_MS).toISOString()
}

/** Prefix of the token of a password reset; 256 random bits follow. */
export const PASSWORD_RESET_PREFIX = 'rst_'

/** End of a password reset that is requested now (ISO 8601). */
export function passwordResetEnd(now: string): string {
  return addMs(now, PASSWORD_RESET.hours * HOUR_MS)
}

/** UUID namespace of user ids. Changing it would lose every user. */
const USERS = '6f2c1c52-7d0b-5c43-9b7e-2f4a9d1e8c30'

/** A user's id, derived from the e-mail address in lower case: one user for each address. */
export function userIdOf(address: string): string {
  return v5(address.trim().toLowerCase(), USERS)
}
