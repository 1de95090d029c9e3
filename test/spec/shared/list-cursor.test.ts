import { describe, expect, it } from 'vitest'
import { createBuyer } from '../../../commands/demand/create-buyer.ts'
import { listBuyers } from '../../../queries/demand/list-buyers.ts'
import { cursorField, cursorText, openCursor, placeAfter } from '../../../queries/shared/list-cursor.ts'
import { PAGE } from '../../../src/domain/shared/limits.ts'
import { isRefusal } from '../../../src/kernel/refusal.ts'
import { ask, names } from '../../support/fixtures/configuration-views.ts'
import { WORKSPACE } from '../../support/fixtures/spec.ts'
import { emptyWorkspace } from '../../support/fixtures/workspace-fixture.ts'

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('the cursor of a list', () => {
  const field = cursorField('buyers', ['name', 'createdAt'])

  it('is read as it was written', () => {
    const after = { id: 'id-1', values: ['日本', 7, null] }
    const start = { sort: 'name', dir: 'asc', page: 3, after }
    const none = field.parse(undefined)
    expect(none).toEqual({ list: 'buyers', start: null })
    expect(field.parse(cursorText(none, start))).toEqual({ list: 'buyers', start })
  })

  it.each([
    ['no text', 7],
    ['an empty text', ''],
    ['no JSON', 'bm8'],
    ['another shape', encoded({ sort: 'name' })],
    ['another list', encoded(['targets', 'name', 'asc', 2, 'id-1', 'x'])],
    ['a sort that the list lacks', encoded(['buyers', 'status', 'asc', 2, 'id-1', 'x'])],
    ['an unknown direction', encoded(['buyers', 'name', 'up', 2, 'id-1', 'x'])],
    ['no page', encoded(['buyers', 'name', 'asc', 0, 'id-1', 'x'])],
    ['an id that is no text', encoded(['buyers', 'name', 'asc', 2, 7, 'x'])],
    ['a value that is neither text nor number', encoded(['buyers', 'name', 'asc', 2, 'id-1', { $gt: '' }])],
  ])('refuses %s', (_what, text) => {
    expect(field.safeParse(text).error?.issues.map(({ message }) => message)).toEqual([
      'must be the nextCursor of a page of this list',
    ])
  })

  it('has a longest text', () => {
    const cursorOf = (length: number) => {
      const after = { id: 'i', values: ['x'.repeat(length)] }
      const text = cursorText(field.parse(undefined), { sort: 'name', dir: 'asc', page: 2, after })
      return { text, isRead: field.safeParse(text).success }
    }
    const lengths = Array.from({ length: PAGE.cursor }, (_, n) => n)
    const longest = lengths.findLast((n) => cursorOf(n).text.length <= PAGE.cursor) ?? 0
    expect([longest > 3_000, cursorOf(longest).isRead, cursorOf(longest + 1).isRead]).toEqual([true, true, false])
  })

  it('names a place by the values that a document is sorted by, its position among them', () => {
    const stored = { id: 'id-1', position: 12, doc: { name: 'Acme', tags: ['a'] } }
    expect(placeAfter({ name: 1, _position: -1, tags: 1, gone: 1 }, stored)).toEqual({
      id: 'id-1',
      values: ['Acme', 12, null, null],
    })
  })
})

describe('a sealed cursor', () => {
  const query = { cursor: cursorField('webhooks').parse(undefined) }
  const reversed = (text: string) => [...text].toReversed().join('')
  const places: object[] = []
  const secrets = {
    seal(text: string, place: object) {
      places.push(place)
      return reversed(text)
    },
    unseal: reversed,
  }
  const sealedText = (values: readonly (string | number)[]) => {
    const opened = openCursor(query, secrets, WORKSPACE)
    if (isRefusal(opened)) throw new Error('A request without a cursor is refused.')
    return cursorText(opened.cursor, { sort: '', dir: 'desc', page: 2, after: { id: 'id-1', values } })
  }
  const read = (text: string) => openCursor({ cursor: cursorField('webhooks').parse(text) }, secrets, WORKSPACE)

  it('hides its values, for its list and workspace, and is read as it was written', () => {
    const text = sealedText(['2026-03-01', 9_007])
    expect(Buffer.from(text, 'base64url').toString()).not.toMatch(/2026-03|9007/)
    expect(places).toEqual([{ purpose: 'list-cursor', path: [WORKSPACE, 'webhooks'] }])
    expect(read(text)).toMatchObject({ cursor: { start: { after: { id: 'id-1', values: ['2026-03-01', 9_007] } } } })
  })

  it('is refused, if its values are not sealed', () => {
    const text = cursorText(query.cursor, { sort: '', dir: 'desc', page: 2, after: { id: 'id-1', values: [7] } })
    expect(read(text)).toMatchObject({ refused: 'validation-error', details: { cursor: expect.any(String) } })
  })
})

describe('a list that is read on by its cursor', () => {
  const five = emptyWorkspace(
    'scale',
    ...['Ee', 'bb', 'aa', 'Dd', 'cc'].map((name) => [createBuyer, () => ({ name, company: 'Acme' })] as const),
  )
  const read = (query: object) => ask(listBuyers, five, { query })

  it('answers page after page in its order, whatever order and page are named beside it', async () => {
    const first = await read({ pageSize: '2', sort: 'name', dir: 'asc' })
    expect([names(first), first.page]).toEqual([['Dd', 'Ee'], 1])
    const second = await read({ pageSize: '2', cursor: first.nextCursor, page: '9', sort: 'status', dir: 'desc' })
    expect([names(second), second.page, second.total, second.totalPages]).toEqual([['aa', 'bb'], 2, 5, 3])
    const last = await read({ pageSize: '2', cursor: second.nextCursor })
    expect([names(last), last.page, last.nextCursor]).toEqual([['cc'], 3, null])
  })

  it('goes on after any page by number, and has no cursor after the last row', async () => {
    const third = await read({ pageSize: '2', sort: 'name', dir: 'desc', page: '2' })
    expect(names(await read({ pageSize: '2', cursor: third.nextCursor }))).toEqual(['Dd'])
    expect((await read({ pageSize: '5' })).nextCursor).toBeNull()
    expect((await read({ pageSize: '5', page: '2' })).nextCursor).toBeNull()
    expect((await read({ pageSize: '4' })).nextCursor).not.toBeNull()
  })
})
