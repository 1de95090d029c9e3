import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { type FilePart, type Files, FilesUnavailable } from '../../ports/files.ts'

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error))

/** Runs work on a file; `missing` is the answer where there is none. @throws FilesUnavailable */
async function withUnavailable<Result>(path: string, missing: Result, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isMissing(error)) return missing
    throw new FilesUnavailable(`${path} cannot be read or written (${codeOf(error)}).`)
  }
}

/** Opens a file for a piece of work. */
async function withFile<Result>(path: string, flags: 'r' | 'w', work: (file: FileHandle) => Promise<Result>) {
  const file = await open(path, flags, 0o600)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

/** Reads `size` bytes from `at`, fewer at the end of the file. */
async function readPart(file: FileHandle, at: number, size: number): Promise<Uint8Array> {
  // Memory of its own: a slice of Node's pool would be neither aligned nor freed alone.
  const bytes = new Uint8Array(new ArrayBuffer(size))
  let read = 0
  while (read < size) {
    const { bytesRead } = await file.read(bytes, read, size - read, at + read)
    if (bytesRead === 0) return bytes.subarray(0, read)
    read += bytesRead
  }
  return bytes
}

const readFrom = (path: string, at: number, length: number | undefined): Promise<Uint8Array> =>
  withFile(path, 'r', async (file) => readPart(file, at, length ?? Math.max(0, (await file.stat()).size - at)))

/** Reads parts of a file: at once with what is between them, where that is no more than they are themselves. */
function readParts(path: string, parts: readonly FilePart[]): Promise<readonly Uint8Array[]> {
  const from = Math.min(...parts.map(({ at }) => at))
  const span = Math.max(...parts.map(({ at, bytes }) => at + bytes)) - from
  const wanted = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  return withFile(path, 'r', async (file) => {
    if (span > 2 * wanted) return Promise.all(parts.map(({ at, bytes }) => readPart(file, at, bytes)))
    const all = await readPart(file, from, span)
    return parts.map(({ at, bytes }) => all.slice(at - from, at - from + bytes))
  })
}

const writeParts = (path: string, parts: readonly Uint8Array[]): Promise<void> =>
  withFile(path, 'w', async (file) => {
    for (const part of parts) await file.writeFile(part)
  })

/** Files in a directory, which is created with the first of them. Only its owner may enter it. */
export function openLocalFiles(directory: string): Files {
  let drafts = 0
  return {
    async write(path, parts) {
      const target = join(directory, path)
      drafts += 1
      const draft = `${target}.${process.pid}-${threadId}-${drafts}.draft`
      try {
        await mkdir(dirname(target), { recursive: true, mode: 0o700 })
        await writeParts(draft, parts)
        await rename(draft, target)
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined)
        throw new FilesUnavailable(`${path} cannot be written (${codeOf(error)}).`)
      }
    },
    read: (path, at = 0, bytes) => withUnavailable(path, null, () => readFrom(join(directory, path), at, bytes)),
    readParts: (path, parts) => withUnavailable(path, null, () => readParts(join(directory, path), parts)),
    list: (folder) => withUnavailable(folder, [], () => readdir(join(directory, folder))),
    remove: (path) =>
      withUnavailable(path, undefined, () => rm(join(directory, path), { recursive: true, force: true })),
  }
}
