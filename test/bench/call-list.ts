import { join } from 'node:path'
import { openConnection } from '../../src/adapters/sqlite/database.ts'
import { openReadSide } from '../../src/main/read-side/read-side.ts'
import { START } from '../../src/ports/event-log.ts'
import { enterStores } from '../support/fixtures/member.ts'
import { callPage } from './call-page.ts'
import type { Figure } from './measure.ts'
import { answerOf, fail, pageFigure, pagesFigure, servePages, storesIn } from './page-server.ts'
import { storeCalls } from './stored-calls.ts'
import { withDirectory } from './temp-directory.ts'

const KEY = 'svc_test_bench'
const PATH = '/api/v1/call-page'
const ROWS = 25
/** Rows of the pages that are read beforehand, each of which gives one of the cursors. */
const LONG = 200
/** Different pages at most, from the first to the last. */
const PAGES = 400

/** Serves the page with the credentials of the stored workspace. */
async function openPages(directory: string) {
  const stores = storesIn(directory)
  const { ops, owner, leave } = await enterStores(stores.readStoreUrl)
  const readSide = await openReadSide({ ...stores, owner, ops, head: START, projects: true, onDeath: fail })
  const pages = await servePages(directory, owner, readSide, callPage)
  return {
    baseUrl: pages.baseUrl,
    async close(): Promise<void> {
      await pages.close()
      await readSide.close()
      await leave()
    },
  }
}

/** Every row of the list as a text, and the cursors that lead through it. */
async function readList(baseUrl: string) {
  const rows: string[] = []
  const cursors: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { text } = await answerOf(`${baseUrl}${PATH}?pageSize=${LONG}${cursor && `&cursor=${cursor}`}`, KEY)
    const page: { readonly data: readonly object[]; readonly nextCursor: string | null } = JSON.parse(text)
    rows.push(...page.data.map((row) => JSON.stringify(row)))
    if (page.nextCursor !== null) cursors.push(page.nextCursor)
    cursor = page.nextCursor
  }
  return { rows, cursors }
}

/** Pages by cursor from the first to the last, compared with bare Fastify that reads as many rows by their key and sends them. */
async function manyPages(directory: string, baseUrl: string, of: string): Promise<Figure> {
  const { rows, cursors } = await readList(baseUrl)
  const count = Math.min(PAGES, cursors.length)
  const chosen = Array.from({ length: count }, (_, n) => Math.floor((n * cursors.length) / count))
  const paths = chosen.map((n) => `${PATH}?pageSize=${ROWS}&cursor=${cursors[n]}`)
  const db = openConnection(join(directory, 'bare.db'))
  db.exec('CREATE TABLE rows (n INTEGER PRIMARY KEY, row TEXT NOT NULL); BEGIN')
  const insert = db.prepare('INSERT INTO rows VALUES (?, ?)')
  for (const [n, row] of rows.entries()) insert.run(n, row)
  db.exec('COMMIT')
  const select = db.prepare('SELECT row FROM rows WHERE n >= ? ORDER BY n LIMIT ?')
  const readBare = (page: number) => {
    const start = ((chosen[page] ?? 0) + 1) * LONG
    const found = select.all(start, ROWS).map(({ row }) => row)
    return `{"data":[${found.join()}],"page":2,"pageSize":25,"total":25,"totalPages":1,"nextCursor":"${cursors[0]}"}`
  }
  const figure = await pagesFigure(
    `${count} different pages of ${of}, by cursor`,
    directory,
    { baseUrl, paths, key: KEY },
    readBare,
  )
  db.close()
  return figure
}

/** Pages of 25 calls over HTTP, compared with bare Fastify that sends the same bytes: one page, prebuilt; many pages, read from a table. */
export function callList(calls: number): Promise<readonly Figure[]> {
  return withDirectory(async (directory) => {
    const stored = await storeCalls(directory, [KEY])
    await stored.growTo(calls)
    await stored.resetCheckpoint()
    const pages = await openPages(directory)
    const of = `25 out of ${calls.toLocaleString('en-US')} calls`
    const one = await pageFigure(`page of ${of}, HTTP`, `${pages.baseUrl}${PATH}?pageSize=${ROWS}`, KEY, 0.5)
    const many = await manyPages(directory, pages.baseUrl, of)
    await pages.close()
    return [one, many]
  })
}
