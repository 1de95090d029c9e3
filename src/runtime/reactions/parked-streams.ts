import { derivedId } from '../../kernel/derived-id.ts'
import type { RecordedEvent } from '../../kernel/event.ts'
import type { Entry, OperationalStore } from '../../ports/operational-store.ts'

/** A stream that a reaction does not go on with, because an event of it failed again and again. */
export interface ParkedStream {
  /** A UUID made of reaction, stream and event: the next event of the stream that fails has another. */
  readonly id: string
  readonly reaction: string
  readonly stream: string
  readonly workspaceId: string | null
  /** Type, position and revision of the event that failed. */
  readonly type: string
  readonly position: number
  readonly revision: number
  /** Since when (ISO). */
  readonly at: string
  /** How often the event was tried. */
  readonly attempts: number
  /** Why it failed last. */
  readonly problem: string
  /** Later events of the stream that wait behind it. */
  readonly waiting: number
}

/** What an operator has asked for: the event to be tried again, or passed over. */
export type ParkedAction = 'retry' | 'skip'

const PREFIX = 'parked:'
const REQUEST_PREFIX = 'parked-request:'
/** A request that no worker has taken by then is forgotten (ms). */
const REQUEST_MS = 3_600_000

type ParkedOps = Pick<OperationalStore, 'get' | 'list' | 'put' | 'putIf' | 'delete'>

const keyOf = (reaction: string, stream: string) => `${PREFIX}${reaction}:${stream}`
const requestKeyOf = ({ reaction, id }: Pick<ParkedStream, 'reaction' | 'id'>) => `${REQUEST_PREFIX}${reaction}:${id}`
const parkedOf = ({ value }: Entry) => value as ParkedStream

/** Id of a stream parked at an event. */
export function parkedIdOf(reaction: string, { stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>): string {
  return derivedId(`${reaction}\n${stream}\n${revision}`)
}

/** Parked streams, of one reaction or of all. @throws StoreUnavailable */
export async function listParked(
  ops: Pick<OperationalStore, 'list'>,
  now: number,
  reaction?: string,
): Promise<readonly ParkedStream[]> {
  return (await ops.list(reaction === undefined ? PREFIX : `${PREFIX}${reaction}:`, now)).map(parkedOf)
}

/** Stores a parked stream, over what is stored of the same stream. @throws StoreUnavailable */
export function putParked(ops: ParkedOps, parked: ParkedStream): Promise<void> {
  return ops.put(keyOf(parked.reaction, parked.stream), parked, null)
}

/** Deletes a stream that is parked no more, then the request that led to it. @throws StoreUnavailable */
export async function deleteParked(ops: ParkedOps, parked: ParkedStream): Promise<void> {
  await ops.delete(keyOf(parked.reaction, parked.stream))
  await endRequest(ops, parked)
}

/** Whether an operator has asked for something that no worker has done yet. @throws StoreUnavailable */
export async function isRequested(
  ops: Pick<OperationalStore, 'get'>,
  parked: ParkedStream,
  now: number,
): Promise<boolean> {
  return (await ops.get(requestKeyOf(parked), now)) !== null
}

/** Asks the worker that has the stream to go on with it; false while it has been asked already. @throws StoreUnavailable */
export function requestAction(
  ops: ParkedOps,
  parked: ParkedStream,
  action: ParkedAction,
  now: number,
): Promise<boolean> {
  return ops.putIf(requestKeyOf(parked), 0, action, now + REQUEST_MS, now)
}

/** What operators have asked for, by the ids of the parked streams of a reaction. @throws StoreUnavailable */
export async function listRequests(
  ops: Pick<OperationalStore, 'list'>,
  reaction: string,
  now: number,
): Promise<ReadonlyMap<string, ParkedAction>> {
  const prefix = `${REQUEST_PREFIX}${reaction}:`
  const entries = await ops.list(prefix, now)
  return new Map(entries.map(({ key, value }) => [key.slice(prefix.length), value === 'skip' ? 'skip' : 'retry']))
}

/** Ends a request that has been done, or came to nothing. @throws StoreUnavailable */
export function endRequest(ops: ParkedOps, parked: Pick<ParkedStream, 'reaction' | 'id'>): Promise<void> {
  return ops.delete(requestKeyOf(parked))
}
