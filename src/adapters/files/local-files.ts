import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { type Files, FilesUnavailable } from '../../ports/files.ts'

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

/** Reads `length` bytes from `at`, fewer at the end of the file. */
async function readBytes(path: string, at: number, length: number | undefined): Promise<Uint8Array> {
  const file = await open(path, 'r')
  try {
    const size = length ?? Math.max(0, (await file.stat()).size - at)
    // Memory of its own: a slice of Node's pool would be neither aligned nor freed alone.
    const bytes = new Uint8Array(new ArrayBuffer(size))
    let read = 0
    while (read < size) {
      const { bytesRead } = await file.read(bytes, read, size - read, at + read)
      if (bytesRead === 0) return bytes.subarray(0, read)
      read += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}

async function writeParts(path: string, parts: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    for (const part of parts) await file.writeFile(part)
  } finally {
    await file.close()
  }
}

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
    read: (path, at = 0, bytes) => withUnavailable(path, null, () => readBytes(join(directory, path), at, bytes)),
    list: (folder) => withUnavailable(folder, [], () => readdir(join(directory, folder))),
    remove: (path) =>
      withUnavailable(path, undefined, () => rm(join(directory, path), { recursive: true, force: true })),
  }
}
