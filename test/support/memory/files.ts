import { type Files, FilesUnavailable } from '../../../src/ports/files.ts'

/** Files in memory, which a test may cut, change and count. */
export interface MemoryFiles extends Files {
  /** The files by path. */
  readonly stored: Map<string, Uint8Array>
  /** Bytes read so far. */
  readonly bytesRead: () => number
}

/** Creates files in memory. `refuses`: whether a write fails now, before anything of it is stored. */
export function createMemoryFiles(refuses: () => boolean = () => false): MemoryFiles {
  const stored = new Map<string, Uint8Array>()
  let bytesRead = 0
  function partOf(found: Uint8Array, at: number, bytes: number | undefined): Uint8Array {
    const read = found.slice(at, bytes === undefined ? undefined : at + bytes)
    bytesRead += read.length
    return read
  }
  return {
    stored,
    bytesRead: () => bytesRead,
    async write(path, parts) {
      if (refuses()) throw new FilesUnavailable(`${path} cannot be written (ENOSPC).`)
      stored.set(path, new Uint8Array(Buffer.concat(parts)))
    },
    async read(path, at = 0, bytes) {
      const found = stored.get(path)
      return found ? partOf(found, at, bytes) : null
    },
    async readParts(path, parts) {
      const found = stored.get(path)
      return found ? parts.map(({ at, bytes }) => partOf(found, at, bytes)) : null
    },
    async list(folder) {
      const inside = folder === '' ? '' : `${folder}/`
      const names = [...stored.keys()].flatMap((path) =>
        path.startsWith(inside) ? path.slice(inside.length).split('/').slice(0, 1) : [],
      )
      return [...new Set(names)]
    },
    async remove(path) {
      for (const name of [...stored.keys()]) if (name === path || name.startsWith(`${path}/`)) stored.delete(name)
    },
  }
}
