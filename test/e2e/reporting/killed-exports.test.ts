import { existsSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect } from 'vitest'
import { bookRows } from '../../../projections/reporting/book-rows.ts'
import { collectionOf } from '../../../src/kernel/projection.ts'
import { folderOf, MANIFEST } from '../../../src/runtime/columns/manifest.ts'
import type { StreamWriter } from '../../../src/runtime/write/stream-writer.ts'
import { generatedBooks, WINDOW } from '../../bench/generated-books.ts'
import { queryString } from '../../support/e2e/api-client.ts'
import { waitUntil } from '../../support/e2e/server.ts'
import { inViews, storeDocuments } from '../../support/e2e/stored-documents.ts'
import { suite } from '../../support/e2e/suite.ts'
import { exportsOnRecord } from '../../support/e2e/tenant-client.ts'
import { createTenantWorkspace } from '../../support/e2e/world.ts'

/** Calls of a year, in a segment and its net rows for each month. */
const CALLS = 10_000
/** Files of the columns at whose appearance the platform is killed. */
const KILLED_AT = [1, 9, 22]

const PATH = `/api/v1/reports/calls/export.csv${queryString({
  from: new Date(WINDOW.fromMs).toISOString(),
  to: new Date(WINDOW.toMs).toISOString(),
  tz: 'UTC',
  groupBy: 'day,campaign',
})}`

const world = async (writer: StreamWriter) => ({ main: await createTenantWorkspace(writer, { name: 'Main' }) })

/** Segments are files of the process that answers, whatever store it reads; a file of calls that is cut off is tested over each. */
const { it, beforeAll, main, the, server } = suite('exports of a platform that is killed', world, {
  stores: 'embedded',
  env: {},
})

function* books(workspaceId: string) {
  for (let n = 0; n < CALLS; n += 1) yield { ...generatedBooks(n, CALLS), workspaceId }
}

beforeAll(async () => {
  await server.stop()
  await inViews(server.env, (views) => storeDocuments(views, bookRows, books(the.main.workspaceId)))
  await server.restart()
})

const folder = () => join(server.dataDir, 'columns', folderOf(collectionOf(bookRows), the.main.workspaceId))
const files = () => (existsSync(folder()) ? readdirSync(folder()).toSorted() : [])
const segments = () => files().filter((name) => name !== MANIFEST)
const segmentPaths = () => segments().map((name) => join(folder(), name))
const halve = (path: string) => truncateSync(path, statSync(path).size >> 1)
const begun = () => fetch(`${server.baseUrl}${PATH}`, { headers: { authorization: `Bearer ${the.main.key}` } })

async function download(): Promise<string> {
  const { status, text } = await main.rest(PATH)
  expect(status, text).toBe(200)
  return text
}

/** The file as it is, with its columns made from nothing. */
async function downloadWhole() {
  const text = await download()
  expect(text.split('\r\n').length).toBeGreaterThan(4_000)
  expect(files()).toContain(MANIFEST)
  return { text, segments: segments() }
}

it('killed while it writes the segments of a report, it has the export on record and believes none of them', async () => {
  const whole = await downloadWhole()
  expect(whole.segments.length).toBeGreaterThan(Math.max(...KILLED_AT))
  let interrupted = 0
  for (const count of KILLED_AT) {
    rmSync(folder(), { recursive: true })
    await server.restart()
    const { total } = await exportsOnRecord(main)
    const ended = begun()
      .then((response) => response.text())
      .catch(() => null)
    for (let isOver = false; !isOver && segments().length < count; )
      isOver = await Promise.race([immediate(false), ended.then(() => true)])
    process.kill(server.pid, 'SIGSTOP')
    if (!files().includes(MANIFEST)) interrupted += 1
    await server.kill()
    expect([null, whole.text]).toContain(await ended)
    // What a process that died has left, and what a disk may make of it.
    for (const path of segmentPaths()) halve(path)
    await server.restart()
    await waitUntil('The export is on record', async () => (await exportsOnRecord(main)).total === total + 1)
    expect(await download()).toBe(whole.text)
    expect(segments()).toEqual(whole.segments)
  }
  expect(interrupted).toBeGreaterThan(0)
})

it('killed as the bytes of a report flow, it has the export on record, and the next one is the same', async () => {
  const whole = await downloadWhole()
  const { total } = await exportsOnRecord(main)
  const response = await begun()
  const reader = response.body?.getReader()
  const first = await reader?.read()
  await server.kill()
  await reader?.cancel()
  expect(whole.text.startsWith(new TextDecoder().decode(first?.value))).toBe(true)
  await server.restart()
  await waitUntil('The export is on record', async () => (await exportsOnRecord(main)).total === total + 1)
  expect(await download()).toBe(whole.text)
})

it.each<readonly [string, (path: string) => void]>([
  ['are truncated', halve],
  ['are missing', rmSync],
])('segments that the manifest names but that %s after a kill are rebuilt', async (_what, damage) => {
  const whole = await downloadWhole()
  await server.kill()
  for (const [place, path] of segmentPaths().entries()) if (place % 3 === 0) damage(path)
  await server.restart()
  expect(await download()).toBe(whole.text)
  expect(segments()).toEqual(whole.segments)
})
