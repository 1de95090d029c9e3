import { Unavailable } from '../kernel/async/errors.ts'

/** A file cannot be read or written: the disk is full, say, or refuses access. */
export class FilesUnavailable extends Unavailable {
  override readonly name = 'FilesUnavailable'
}

/** Where a part of a file stands, in bytes. */
export interface FilePart {
  readonly at: number
  readonly bytes: number
}

/**
 * Files of derived data in one directory, by paths with slashes. Each is written once, whole, and can be made anew at any
 * time: so nothing is flushed, and after a loss of power a file may hold anything. Other processes may use the same
 * directory. Every method throws FilesUnavailable.
 */
export interface Files {
  /** Writes a file, with its folders: readers find what was there before or all of it. Only its owner may read it. */
  readonly write: (path: string, parts: readonly Uint8Array[]) => Promise<void>
  /** Bytes of a file from `at`, fewer at its end, in a buffer of their own; null where there is no file. `bytes` left out: to its end. */
  readonly read: (path: string, at?: number, bytes?: number) => Promise<Uint8Array | null>
  /** Parts of a file, one or more, each as `read` gives it, in one opening of the file; null where there is none. */
  readonly readParts: (path: string, parts: readonly FilePart[]) => Promise<readonly Uint8Array[] | null>
  /** Names in a folder (empty: the directory itself); none where there is no folder. */
  readonly list: (folder: string) => Promise<readonly string[]>
  /** Removes a file, or a folder with all in it. One that is not there is no error. */
  readonly remove: (path: string) => Promise<void>
}
