import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLocalFiles } from '../../src/adapters/files/local-files.ts'
import { FilesUnavailable } from '../../src/ports/files.ts'
import { createMemoryFiles } from '../support/memory/files.ts'
import { filesContract } from './files.contract.ts'

filesContract('memory', async () => ({ files: createMemoryFiles(), close: async () => undefined }))

filesContract('a directory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ringledger-files-'))
  return { files: openLocalFiles(join(folder, 'columns')), close: () => rm(folder, { recursive: true }) }
})

describe('a directory of files', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringledger-files-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('is closed to others, and so are its files', async () => {
    const files = openLocalFiles(join(folder, 'own'))
    await files.write('a/b', [new Uint8Array(3)])
    const modes = await Promise.all(['own', 'own/a', 'own/a/b'].map((path) => stat(join(folder, path))))
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o700, 0o600])
  })

  test('leaves no draft behind, and says what it cannot write', async () => {
    const files = openLocalFiles(join(folder, 'drafts'))
    await files.write('a', [new Uint8Array(3)])
    await files.write('a', [new Uint8Array(4)])
    await files.write('folder/b', [new Uint8Array(4)])
    await expect(files.write('folder', [new Uint8Array(3)])).rejects.toThrow(FilesUnavailable)
    await expect(files.read('folder')).rejects.toThrow('folder cannot be read or written (EISDIR).')
    expect((await readdir(join(folder, 'drafts'))).toSorted()).toEqual(['a', 'folder'])
    await writeFile(join(folder, 'drafts', 'plain'), '')
    await expect(files.write('plain/file', [])).rejects.toThrow(FilesUnavailable)
    expect(await files.read('plain/file')).toBeNull()
  })
})
