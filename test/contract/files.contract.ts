import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Files } from '../../src/ports/files.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const text = (read: Uint8Array | null) => (read === null ? null : Buffer.from(read).toString())

/** What every directory of files does. */
export function filesContract(
  name: string,
  start: () => Promise<{ readonly files: Files; readonly close: () => Promise<void> }>,
): void {
  describe(`files in ${name}`, () => {
    let files: Files
    let close: () => Promise<void>
    beforeAll(async () => {
      ;({ files, close } = await start())
    })
    afterAll(() => close())

    test('are written whole, in folders, over what was there', async () => {
      await files.write('one/two/file', [bytes('abc'), bytes('defg')])
      expect(text(await files.read('one/two/file'))).toBe('abcdefg')
      await files.write('one/two/file', [bytes('short')])
      expect(text(await files.read('one/two/file'))).toBe('short')
      expect(await files.list('one/two')).toEqual(['file'])
    })

    test('are read in parts, fewer bytes at the end, each in a buffer of its own', async () => {
      await files.write('parts', [bytes('0123456789')])
      expect(text(await files.read('parts', 3, 4))).toBe('3456')
      expect(text(await files.read('parts', 8, 4))).toBe('89')
      expect(text(await files.read('parts', 20, 4))).toBe('')
      expect(text(await files.read('parts', 6))).toBe('6789')
      const read = await files.read('parts', 4, 4)
      expect([read?.byteOffset, read?.buffer.byteLength]).toEqual([0, 4])
    })

    test.each([
      ['near each other', [3, 4], [0, 1], ['3456', '0', '89']],
      ['far from each other', [1, 1], [0, 1], ['1', '0', '89']],
    ] as const)('are read in several parts at once, %s', async (_, one, other, expected) => {
      await files.write('several', [Buffer.from('0123456789')])
      const wanted = [one, other, [8, 2] as const].map(([at, bytes]) => ({ at, bytes }))
      const parts = await files.readParts('several', wanted)
      expect(parts?.map(text)).toEqual(expected)
      for (const part of parts ?? []) expect([part.byteOffset, part.buffer.byteLength]).toEqual([0, part.length])
      expect((await files.readParts('several', [{ at: 8, bytes: 4 }]))?.map(text)).toEqual(['89'])
    })

    test('are missing until they are written, and once they are removed', async () => {
      expect(await files.read('none/at/all')).toBeNull()
      expect(await files.readParts('none/at/all', [{ at: 0, bytes: 1 }])).toBeNull()
      expect(await files.list('none/at/all')).toEqual([])
      await files.remove('none/at/all')
      for (const path of ['gone/a', 'gone/b/c', 'gone-not']) await files.write(path, [bytes('x')])
      await files.remove('gone/a')
      expect(await files.list('gone')).toEqual(['b'])
      await files.remove('gone')
      expect([await files.read('gone/b/c'), text(await files.read('gone-not'))]).toEqual([null, 'x'])
      expect(await files.list('')).toContain('gone-not')
      expect(await files.list('')).not.toContain('gone')
    })
  })
}
