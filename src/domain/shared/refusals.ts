import { refuse } from '../../kernel/refusal.ts'

/** 404: a record of this kind is not the workspace's. */
export function refuseNotFound<const Kind extends string>(kind: Kind) {
  return refuse<`${Kind}-not-found`>(`${kind}-not-found`)
}

/** 409: the machine has no such move from here. */
export function refuseTransition(kind: string, status: string, allowed: readonly string[]) {
  return refuse('conflict', { status, allowed }, `${kind} is ${status}, so that move is not allowed.`)
}

/** 409: the record is archived, and archived records do not change. */
export function refuseArchived(kind: string) {
  return refuse('conflict', { status: 'archived' }, `${kind} is archived.`)
}

/** 409: another record holds the name. */
export function refuseNameTaken(kind: string, name: string) {
  return refuse('conflict', { name }, `Another ${kind} is already called "${name}".`)
}

/** 400: the request names nothing to change. */
export function refuseEmptyChange() {
  return refuse('bad-request', null, 'There is nothing to update.')
}

/** 409: the record is revoked, which is for ever. */
export function refuseRevoked(kind: string) {
  return refuse('conflict', { status: 'revoked' }, `${kind} is revoked.`)
}
