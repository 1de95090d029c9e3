import type { Credential, WorkspaceAccess } from '../domain/access/access.ts'
import { createNextFlight } from '../kernel/async/single-flight.ts'
import { StoreUnavailable } from '../ports/read-store.ts'

/** Look-ups of credentials and of the workspaces that they open. */
export interface CredentialStore {
  /** The credential whose secret has this SHA-256, in hex; null for none. @throws StoreUnavailable */
  readonly credential: (kind: 'key' | 'session', hash: string) => Promise<Credential | null>
  /** @throws StoreUnavailable */
  readonly workspace: (id: string) => Promise<WorkspaceAccess | null>
}

/** Caches what a credential store finds, until `clear` is called. */
export function withCredentialCache(store: CredentialStore): CredentialStore & { readonly clear: () => void } {
  let credentials = new Map<string, Promise<Credential | null>>()
  let workspaces = new Map<string, Promise<WorkspaceAccess | null>>()
  const cached = <Value>(cache: Map<string, Promise<Value>>, key: string, load: () => Promise<Value>) => {
    const present = cache.get(key)
    if (present) return present
    const loading = load()
    // Misses are not cached: requests with made-up credentials must not fill the memory.
    loading.then(
      (value) => value === null && cache.delete(key),
      () => cache.delete(key),
    )
    cache.set(key, loading)
    return loading
  }
  return {
    credential: (kind, hash) => cached(credentials, `${kind} ${hash}`, () => store.credential(kind, hash)),
    workspace: (id) => cached(workspaces, id, () => store.workspace(id)),
    clear() {
      credentials = new Map()
      workspaces = new Map()
    },
  }
}

/**
 * Coalesces concurrent look-ups per key and caches nothing: callers that arrive during a look-up share the next one, so
 * every result was read after its caller asked.
 */
export function withCoalescing(store: CredentialStore): CredentialStore {
  const credentials = createNextFlight<Credential | null>()
  const workspaces = createNextFlight<WorkspaceAccess | null>()
  return {
    credential: (kind, hash) => credentials(`${kind} ${hash}`, () => store.credential(kind, hash)),
    workspace: (id) => workspaces(id, () => store.workspace(id)),
  }
}

/** What a process says that has yet to read the credentials that stood at its start. */
export const UNREAD_CREDENTIALS = 'Credentials are being read from the log.'

/** Whether a credential store has been read as far as it must be, and a bounded wait until it has. */
export interface CatchUp {
  readonly isDone: () => boolean
  /** Resolves when it is done, and after a while in any case. */
  readonly wait: () => Promise<unknown>
}

/**
 * Looks something up in a process that may not have folded everything yet: it waits for the catch-up, and what is not found
 * before it is done is not known to be missing. @throws StoreUnavailable then
 */
export async function afterCatchUp<Value>(
  { isDone, wait }: CatchUp,
  lookUp: () => Promise<Value | null>,
): Promise<Value | null> {
  if (isDone()) return lookUp()
  await wait()
  const wasDone = isDone()
  const found = await lookUp()
  if (found === null && !wasDone) throw new StoreUnavailable(UNREAD_CREDENTIALS)
  return found
}

/** A store whose look-ups wait for the catch-up. */
export function withCatchUp(store: CredentialStore, catchUp: CatchUp): CredentialStore {
  return {
    credential: (kind, hash) => afterCatchUp(catchUp, () => store.credential(kind, hash)),
    workspace: (id) => afterCatchUp(catchUp, () => store.workspace(id)),
  }
}
