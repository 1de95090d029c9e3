import { LRUCache } from 'lru-cache'

/** Sections of segments in memory, by name. */
export interface SectionMemory {
  readonly section: (name: string) => Uint8Array | null
  readonly holdSection: (name: string, section: Uint8Array) => void
}

/** What a process holds of the columns of all workspaces: sections, and the state of each workspace by its folder. */
export interface ColumnMemory<State extends object> extends SectionMemory {
  readonly workspace: (folder: string) => State | null
  /** Holds a state, or counts its bytes anew. One that is larger than all the memory is not held. */
  readonly holdWorkspace: (folder: string, state: State) => void
  readonly forget: (folder: string) => void
  /** Bytes held. */
  readonly bytes: () => number
}

/** Creates a memory of so many bytes. What was not used for the longest time is dropped first. */
export function createColumnMemory<State extends object>(
  maxBytes: number,
  bytesOf: (state: State) => number,
): ColumnMemory<State> {
  const held = new LRUCache<string, Uint8Array | State>({
    maxSize: maxBytes,
    sizeCalculation: (one) => Math.max(1, one instanceof Uint8Array ? one.length : bytesOf(one)),
  })
  return {
    section(name) {
      const found = held.get(name)
      return found instanceof Uint8Array ? found : null
    },
    holdSection: (name, section) => void held.set(name, section),
    workspace(folder) {
      const found = held.get(folder)
      return found === undefined || found instanceof Uint8Array ? null : found
    },
    // The same object again would keep its old size.
    holdWorkspace(folder, state) {
      held.delete(folder)
      held.set(folder, state)
    },
    forget: (folder) => void held.delete(folder),
    bytes: () => held.calculatedSize,
  }
}
