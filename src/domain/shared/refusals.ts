import { refuse } from '../../kernel/refusal.ts'
import { zoneProblem } from './zones.ts'

/** 404: the workspace has no such record of this kind. */
export function refuseNotFound<const Kind extends string>(kind: Kind) {
  return refuse<`${Kind}-not-found`>(`${kind}-not-found`)
}

/** 409: the record's status does not allow this transition; `details` list the allowed ones. */
export function refuseTransition(kind: string, status: string, allowed: readonly string[]) {
  const possible = allowed.length === 0 ? 'its status cannot be changed' : `it can only become ${allowed.join(' or ')}`
  return refuse('conflict', { status, allowed }, `${kind} is ${status}: ${possible}.`)
}

/** 409: the record is archived, and archived records do not change. */
export function refuseArchived(kind: string) {
  return refuse('conflict', { status: 'archived' }, `${kind} is archived. Restore it first.`)
}

/** 409: another record of the kind has this name. */
export function refuseNameTaken(kind: string, name: string) {
  return refuse('conflict', { name }, `Another ${kind} is already called "${name}".`)
}

/** 400: the request changes no field. */
export function refuseEmptyChange() {
  return refuse('bad-request', null, 'The request must contain at least one field to change.')
}

/** 409: the record is revoked, which is final. */
export function refuseRevoked(kind: string) {
  return refuse('conflict', { status: 'revoked' }, `${kind} is revoked, which is final.`)
}

/** Refuses a `timezone` that names no IANA zone; null when it does, or is not part of the request. */
export function refuseUnknownZone(timezone: string | undefined) {
  const problem = timezone === undefined ? null : zoneProblem(timezone)
  return problem === null ? null : refuse('validation-error', { timezone: problem })
}
