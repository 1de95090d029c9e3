import { Map as PersistentMap } from 'immutable'
import { v5 } from 'uuid'
import { z } from 'zod'
import { defineEntity } from '../../kernel/entity.ts'
import { id, instant } from '../../kernel/wire.ts'
import { nameSchema, sha256 } from '../shared/fields.ts'
import { NAME, PASSWORD, SESSION, TEXT } from '../shared/limits.ts'

export const email = z.email().max(TEXT.email)
/** As a person chooses one. */
export const newPassword = z.string().min(PASSWORD.min).max(PASSWORD.max)
/** As a person claims to know one. */
export const submittedPassword = z.string().min(1).max(PASSWORD.max)
/** Somebody to register. */
export const newPerson = z.object({ email, name: nameSchema(NAME.user), password: newPassword })
/** argon2id, with its salt and its cost. */
export const passwordHash = z.string().min(1)

/** These names are the storage format. */
export const userEvents = {
  UserRegistered: z.object({ userId: id, email, name: nameSchema(NAME.user), passwordHash }),
  SignedIn: z.object({
    userId: id,
    sessionHash: sha256,
    expiresAt: instant,
    /** Sessions of the user that had ended by themselves, or were one too many, forgotten at this sign-in. */
    expired: z.array(sha256).readonly(),
  }),
  SessionExtended: z.object({ userId: id, sessionHash: sha256, expiresAt: instant }),
  SignedOut: z.object({ userId: id, sessionHash: sha256 }),
  /** `ended` are the sessions that the change ended: all but the one that it was made in. */
  PasswordChanged: z.object({ userId: id, passwordHash, ended: z.array(sha256).readonly() }),
}

export interface UserState {
  readonly user: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly passwordHash: string
  } | null
  /** When each session ends, by the hash of its token. */
  readonly sessions: PersistentMap<string, string>
}

const initial: UserState = { user: null, sessions: PersistentMap() }

/** A person who signs in: `user-<userId>`. */
export const user = defineEntity({
  name: 'user',
  version: 2,
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
    PasswordChanged: (state, { data }) => ({
      ...state,
      user: state.user && { ...state.user, passwordHash: data.passwordHash },
      sessions: state.sessions.deleteAll(data.ended),
    }),
  },
})

/** What the token of a session begins with; 256 random bits follow. */
export const SESSION_PREFIX = 'sess_'

const HOUR_MS = 3_600_000

/** When a session that is used now ends from now on; null where that is as it was near enough, or it has ended. */
export function renewedSessionEnd(expiresAt: string, now: string): string | null {
  const left = Date.parse(expiresAt) - Date.parse(now)
  return left > 0 && left < SESSION.renewBelowHours * HOUR_MS ? sessionEnd(Date.parse(now)) : null
}

/** When a session that was last used at an instant (ms) ends. */
export function sessionEnd(at: number): string {
  return new Date(at + SESSION.hours * HOUR_MS).toISOString()
}

/** Namespace of user ids; changing it would lose every user. */
const USERS = '6f2c1c52-7d0b-5c43-9b7e-2f4a9d1e8c30'

/** A user's id, which is the address itself: unique by its stream, whatever the case. */
export function userIdOf(address: string): string {
  return v5(address.trim().toLowerCase(), USERS)
}
